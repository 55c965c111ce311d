// expect: safe
#include <chrono>
#include <mutex>
#include <thread>
std::timed_mutex m;
int x;
void add() {
    if (m.try_lock_for(std::chrono::milliseconds(1))) {
        x++;
        m.unlock();
    }
}
int main() {
    std::thread t(add);
    add();
    t.join();
    return x > 2;
}
