// expect: safe
#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> x;
int main() {
    std::thread t([] { x++; });
    x++;
    t.join();
    assert(x == 2);
}
