// expect: safe
// options: --leaks
#include <memory>
#include <thread>
int main() {
    auto p = std::make_shared<int>(3);
    std::thread t([p] { (void)*p; });
    p.reset();
    t.join();
}
