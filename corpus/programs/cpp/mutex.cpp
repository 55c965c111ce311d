// std::thread, std::mutex, std::atomic.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int> hits{0};
static std::mutex mutex;
static int counter;

static void run() {
    hits.fetch_add(1, std::memory_order_relaxed);
#ifndef BUG_NO_LOCK
    std::lock_guard<std::mutex> guard(mutex);
#endif
    counter++;
}

int main() {
    std::thread a(run), b(run);
    a.join();
    b.join();
    assert(hits == 2 && counter == 2);
}
