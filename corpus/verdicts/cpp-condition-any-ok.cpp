// expect: safe
// models: c20
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable_any ready;
bool done;
int main() {
    std::thread t([] {
        std::lock_guard lock(m);
        done = true;
        ready.notify_one();
    });
    {
        std::unique_lock lock(m);
        ready.wait(lock, [] { return done; });
        assert(done);
    }
    t.join();
}
