// expect: safe
#include <mutex>
#include <cassert>
#include <thread>
static std::mutex m;
static int n;
static void add() {
    std::lock_guard<std::mutex> hold(m);
    n++;
}
int main() {
    std::thread t(add);
    add();
    t.join();
    assert(n == 2);
}
