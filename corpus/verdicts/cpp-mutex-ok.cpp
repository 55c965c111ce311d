// expect: safe
#include <mutex>
#include <thread>
std::mutex m;
int x;
void add() {
    std::lock_guard<std::mutex> lock(m);
    x++;
}
int main() {
    std::thread t(add);
    add();
    t.join();
    return x - 2;
}
