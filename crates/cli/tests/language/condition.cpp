// wrong: deadlock
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable ready;
static bool done;
int main() {
    std::thread waiter([] {
        std::unique_lock<std::mutex> lock(m);
        ready.wait(lock, [] { return done; });
        assert(done);
    });
    {
        std::lock_guard<std::mutex> lock(m);
        done = true;
    }
#ifndef WRONG
    ready.notify_one();
#endif
    waiter.join();
    // Nobody will notify this one: it ends by itself.
    std::unique_lock<std::mutex> lock(m);
    ready.wait_for(lock, std::chrono::milliseconds(1));
}
