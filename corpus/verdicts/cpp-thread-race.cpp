// expect: race 7
// expect: race 8
// models: rc11
#include <thread>
int x;
int main() {
    std::thread t([] { x = 1; });
    x = 2;
    t.join();
}
