// expect: safe
#include <atomic>
#include <thread>
std::atomic<int> x;
int main() {
    std::thread t([] {
        x = 1;
        x.notify_one();
    });
    x.wait(0);
    t.join();
}
