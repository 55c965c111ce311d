// expect: assertion 19
#include <cassert>
#include <chrono>
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
        bool in_time = c.wait_for(lock, std::chrono::seconds(1), [] { return ready; });
        assert(in_time);
    }
    t.join();
}
