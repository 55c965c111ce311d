// expect: safe
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> x;
static void add() {
    int old = x.load(std::memory_order_relaxed);
    while (!x.compare_exchange_weak(old, old + 1)) {}
}
int main() {
    std::thread t(add);
    add();
    t.join();
    assert(x == 2);
}
