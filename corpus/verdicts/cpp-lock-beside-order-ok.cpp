// expect: safe
// models: sc tso rc11 c20
// std::lock gives back what it has when another thread holds the rest, so that that thread can go on.
#include <mutex>
#include <thread>
std::mutex a, b;
int shared;
int main() {
    std::thread one([] {
        std::scoped_lock both(a, b);
        shared++;
    });
    std::thread two([] {
        b.lock();
        a.lock();
        shared++;
        a.unlock();
        b.unlock();
    });
    one.join();
    two.join();
    return 0;
}
