// expect: safe
// models: sc tso rc11 c20
// std::lock takes any number of lockable objects of any types without a deadlock ([thread.lock.algorithm]).
#include <cassert>
#include <mutex>
#include <thread>
std::mutex a, b;
std::recursive_mutex c;
int shared;
int main() {
    std::thread one([] {
        std::scoped_lock all(a, b, c);
        shared++;
    });
    std::thread two([] {
        std::unique_lock<std::mutex> second(b, std::defer_lock), first(a, std::defer_lock);
        std::lock(c, second, first);
        shared++;
        c.unlock();
    });
    one.join();
    two.join();
    assert(shared == 2);
    return 0;
}
