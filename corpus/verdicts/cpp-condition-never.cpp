// expect: deadlock 8
#include <condition_variable>
#include <mutex>
std::mutex m;
std::condition_variable c;
int main() {
    std::unique_lock<std::mutex> lock(m);
    c.wait(lock);
}
