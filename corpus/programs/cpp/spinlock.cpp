// A lock made of std::atomic_flag, used through std::lock_guard.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

class Spinlock {
    std::atomic_flag taken = ATOMIC_FLAG_INIT;

  public:
    void lock() {
        while (taken.test_and_set(std::memory_order_acquire)) {
        }
    }
#ifdef BUG_RELAXED
    void unlock() { taken.clear(std::memory_order_relaxed); }
#else
    void unlock() { taken.clear(std::memory_order_release); }
#endif
};

static Spinlock spinlock;
static int counter;

static void run() {
    std::lock_guard<Spinlock> guard(spinlock);
    counter++;
}

int main() {
    std::thread a(run), b(run), c(run);
    a.join();
    b.join();
    c.join();
    assert(counter == 3);
}
