// expect: safe
// models: c20
// An exception leaves a function under a lock, and the lock is free again.
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
std::mutex m;
int count;
void work(bool fails) {
    std::lock_guard<std::mutex> guard(m);
    count++;
    if (fails) throw std::runtime_error("no");
}
int main() {
    std::thread t([] {
        try {
            work(true);
            assert(false);
        } catch (const std::exception &) {
        }
    });
    work(false);
    t.join();
    assert(count == 2);
}
