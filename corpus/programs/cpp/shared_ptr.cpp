// A vector of threads, a condition variable, an object that the last one frees.
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;

struct Object {
    int value;
    explicit Object(int value) : value(value) {}
};

int main() {
    auto object = std::make_shared<Object>(5);
    std::vector<std::thread> threads;
    threads.emplace_back([object] {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [] { return ready; });
        assert(object->value == 5);
    });
    threads.emplace_back([object] {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ready = true;
        }
#ifndef BUG_NO_NOTIFY
        condition.notify_one();
#endif
    });
    object.reset();
    for (auto &thread : threads) thread.join();
}
