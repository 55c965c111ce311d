// expect: safe
#include <future>
int main() {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([&p] { p.set_value(3); });
    int r = f.get();
    t.join();
    return r - 3;
}
