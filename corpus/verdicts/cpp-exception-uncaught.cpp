// expect: trap 4
// models: c20
#include <thread>
void run() { throw 1; }
int main() {
    std::thread t(run);
    t.join();
}
