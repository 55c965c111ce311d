// wrong: race
#include <atomic>
#include <cassert>
#include <thread>
int main() {
    int value = 0;
    auto add = [&value] {
#ifdef WRONG
        value++;
#else
        std::atomic_ref<int>(value).fetch_add(1, std::memory_order_relaxed);
#endif
    };
    std::thread one(add), two(add);
    one.join(), two.join();
    assert(value == 2);
}
