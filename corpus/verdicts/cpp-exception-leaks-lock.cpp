// expect: lock 15
// models: c20
// The exception passes an unlock.
#include <mutex>
std::mutex m;
void work() {
    m.lock();
    throw 1;
}
int main() {
    try {
        work();
    } catch (int) {
    }
    std::lock_guard<std::mutex> guard(m);
}
