// expect: safe
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
std::mutex m;
std::condition_variable c;
int main() {
    std::unique_lock<std::mutex> lock(m);
    assert(c.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::timeout);
}
