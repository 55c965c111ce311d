// expect: safe
#include <cassert>
#include <mutex>
std::mutex m;
int main() {
    std::unique_lock<std::mutex> lock(m, std::try_to_lock);
    assert(lock.owns_lock());
}
