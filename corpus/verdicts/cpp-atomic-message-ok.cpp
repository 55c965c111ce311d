// expect: safe
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> ready;
static int data;
int main() {
    std::thread t([] {
        data = 1;
        ready.store(1, std::memory_order_release);
    });
    if (ready.load(std::memory_order_acquire))
        assert(data == 1);
    t.join();
}
