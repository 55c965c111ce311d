// expect: assertion 9
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
std::timed_mutex m;
void add() {
    bool got = m.try_lock_for(std::chrono::milliseconds(1));
    assert(got);
    m.unlock();
}
int main() {
    std::thread t(add);
    add();
    t.join();
}
