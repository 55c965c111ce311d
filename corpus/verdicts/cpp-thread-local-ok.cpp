// expect: safe
#include <cassert>
#include <thread>
static thread_local int n = 1;
int main() {
    n++;
    std::thread t([] { assert(n == 1); });
    t.join();
    assert(n == 2);
}
