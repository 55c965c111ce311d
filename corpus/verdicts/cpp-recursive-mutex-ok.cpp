// expect: safe
#include <mutex>
std::recursive_mutex m;
int main() {
    std::lock_guard<std::recursive_mutex> a(m);
    std::lock_guard<std::recursive_mutex> b(m);
}
