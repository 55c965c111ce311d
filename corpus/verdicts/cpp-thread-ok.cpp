// expect: safe
#include <thread>
int x;
int main() {
    std::thread t([] { x = 1; });
    t.join();
    return x - 1;
}
