// expect: safe
#include <thread>
int main() {
    int x = 0;
    std::thread t([&x] { x = 1; });
    t.join();
    return x - 1;
}
