// expect: safe
#include <chrono>
#include <future>
int main() {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    return f.wait_for(std::chrono::seconds(1)) != std::future_status::timeout;
}
