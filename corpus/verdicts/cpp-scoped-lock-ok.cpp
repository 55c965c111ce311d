// expect: safe
// models: sc tso pso ra sra rc11 c20
// Whichever order the locks are named in, scoped_lock takes them without a deadlock ([thread.lock.algorithm]).
#include <cassert>
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
        std::scoped_lock both(b, a);
        shared++;
    });
    one.join();
    two.join();
    assert(shared == 2);
    return 0;
}
