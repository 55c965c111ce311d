// expect: race 11
// models: c20
// C++20: a later store of the same thread does not continue a release sequence.
#include <atomic>
#include <thread>
int data;
std::atomic<int> flag;
int main() {
    std::thread reader([] {
        if (flag.load(std::memory_order_acquire) == 2) {
            (void)*(volatile int *)&data;
        }
    });
    data = 1;
    flag.store(1, std::memory_order_release);
    flag.store(2, std::memory_order_relaxed);
    reader.join();
}
