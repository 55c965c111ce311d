// expect: safe
// models: c20
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>
std::shared_mutex m;
int x;
int main() {
    std::thread t([] {
        std::unique_lock lock(m);
        x = 1;
    });
    {
        std::shared_lock lock(m);
        assert(x == 0 || x == 1);
    }
    t.join();
}
