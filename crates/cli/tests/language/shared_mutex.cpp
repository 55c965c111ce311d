// wrong: race
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>
static std::shared_mutex m;
static int a, b;
int main() {
    std::thread writer([] {
#ifdef WRONG
        std::shared_lock lock(m);
#else
        std::unique_lock lock(m);
#endif
        a++, b++;
    });
    std::thread reader([] {
        std::shared_lock lock(m);
        assert(a == b);
    });
    writer.join(), reader.join();
}
