// expect: memory 8
#include <thread>
int main() {
    std::thread t;
    {
        int x = 0;
        t = std::thread([&x] {
            x = 1;
        });
    }
    t.join();
}
