// C++20 threads, one case per argument.
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

static void latches() {
    std::latch done(3);
    int sum[3] = {};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            sum[i] = i + 1;
            done.count_down();
        });
    done.wait();
    assert(sum[0] + sum[1] + sum[2] == 6);
}

static void barriers() {
    int rounds = 0;
    std::barrier sync(3, [&]() noexcept { rounds++; });
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&] {
                for (int k = 1; k <= 3; k++) {
                    sync.arrive_and_wait();
                    assert(rounds == 2 * k - 1);
                    sync.arrive_and_wait();
                }
            });
    }
    assert(rounds == 6);
}

static void semaphores() {
    std::counting_semaphore<4> slots(2);
    std::binary_semaphore full(0);
    std::atomic<int> inside{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&] {
                slots.acquire();
                assert(++inside <= 2);
                --inside;
                slots.release();
            });
    }
    assert(!full.try_acquire_for(std::chrono::milliseconds(5)));
    full.release();
    full.acquire();
}

static void waiting() {
    std::atomic<int> stage{0};
    int data = 0;
    std::jthread other([&] {
        data = 42;
        stage.store(1, std::memory_order_release);
        stage.notify_one();
        stage.wait(1);
        assert(data == 43);
    });
    stage.wait(0, std::memory_order_acquire);
    assert(data == 42);
    data = 43;
    stage.store(2);
    stage.notify_all();
}

static void stopping() {
    std::mutex m;
    std::condition_variable_any c;
    bool ready = false;
    std::jthread worker([&](std::stop_token token) {
        std::unique_lock lock(m);
        bool const got = c.wait(lock, token, [&] { return ready; });
        assert(!got && token.stop_requested());
    });
    worker.request_stop();
}

static void references() {
    int value = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++) threads.emplace_back([&] { std::atomic_ref<int>(value).fetch_add(1); });
    }
    assert(value == 3);
    std::atomic_flag flag;
    std::jthread t([&] {
        flag.test_and_set();
        flag.notify_one();
    });
    flag.wait(false);
}

int main(int argc, char **argv) {
    static const std::pair<const char *, void (*)()> cases[] = {{"latches", latches}, {"barriers", barriers},
        {"semaphores", semaphores}, {"waiting", waiting}, {"stopping", stopping}, {"references", references}};
    for (auto &c : cases) {
        if (argc < 2) std::puts(c.first);
        else if (std::strcmp(argv[1], c.first) == 0) return c.second(), 0;
    }
    return argc < 2 ? 0 : 9;
}
