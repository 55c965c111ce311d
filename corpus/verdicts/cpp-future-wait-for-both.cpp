// expect: assertion 10
#include <cassert>
#include <chrono>
#include <future>
int main() {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([&p] { p.set_value(3); });
    auto status = f.wait_for(std::chrono::seconds(1));
    assert(status == std::future_status::ready);
    t.join();
}
