// expect: trap 5
// expect: trap 6
#include <thread>
int main() {
    std::thread t([] {});
}
