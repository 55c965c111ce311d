// wrong: race
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
#include <vector>
int main() {
    std::atomic<int> sum{0};
    std::vector<int> values{1, 2, 3};
    values.push_back(4);
    auto shared = std::make_shared<std::vector<int>>(values);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&sum, i, shared] {
            sum += (*shared)[i];
#ifdef WRONG
            (*shared)[0] = i;
#endif
        });
    for (auto &thread : threads) thread.join();
    assert(sum == 3 && shared.use_count() == 1);
}
