// expect: safe
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable c;
bool ready;
int main() {
    std::thread t([] {
        std::lock_guard<std::mutex> lock(m);
        ready = true;
        c.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(m);
        c.wait(lock, [] { return ready; });
    }
    t.join();
}
