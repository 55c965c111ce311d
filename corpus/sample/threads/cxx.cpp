// C++ threads, one case per argument.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

static void each(int count, const std::function<void(int)> &body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(body, i);
    for (auto &t : threads) t.join();
}

static void mutexes() {
    std::mutex m;
    std::map<int, std::string> all;
    each(4, [&](int i) {
        std::lock_guard<std::mutex> guard(m);
        all[i] = std::to_string(i) + std::string(40, 'x');
    });
    assert(all.size() == 4);
    std::recursive_mutex r;
    std::lock_guard<std::recursive_mutex> a(r), b(r);
}

static void conditions() {
    std::mutex m;
    std::condition_variable c;
    std::vector<int> queue;
    int sum = 0;
    each(4, [&](int i) {
        std::unique_lock<std::mutex> lock(m);
        if (i % 2) {
            queue.push_back(i);
            c.notify_one();
        } else {
            c.wait(lock, [&] { return !queue.empty(); });
            sum += queue.back();
            queue.pop_back();
        }
    });
    assert(sum == 4);
}

static void timeouts() {
    std::mutex m;
    std::condition_variable c;
    std::timed_mutex t;
    t.lock();
    each(2, [&](int) {
        std::unique_lock<std::mutex> lock(m);
        assert(c.wait_for(lock, std::chrono::milliseconds(50)) == std::cv_status::timeout);
        lock.unlock();
        assert(!t.try_lock_for(std::chrono::milliseconds(5)));
        auto const start = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        assert(std::chrono::steady_clock::now() - start >= std::chrono::seconds(1));
    });
    t.unlock();
}

static void shared() {
    std::shared_mutex m;
    int value = 0;
    each(4, [&](int i) {
        if (i == 0) {
            std::unique_lock<std::shared_mutex> lock(m);
            value = 1;
        } else {
            std::shared_lock<std::shared_mutex> lock(m);
            assert(value == 0 || value == 1);
        }
    });
    assert(value == 1);
}

static void futures() {
    auto a = std::async(std::launch::async, [] { return 20; });
    std::promise<int> p;
    auto b = p.get_future();
    std::thread t([&] { p.set_value(22); });
    assert(a.get() + b.get() == 42);
    t.join();
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    auto c = task.get_future();
    std::thread(std::move(task), 4).join();
    assert(c.get() == 5);
    auto d = std::async(std::launch::async, [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return 1;
    });
    assert(d.wait_for(std::chrono::seconds(5)) == std::future_status::ready && d.get() == 1);
}

static void exceptions() {
    auto f = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
    try {
        f.get();
        assert(false);
    } catch (const std::runtime_error &e) {
        assert(std::string(e.what()) == "thrown");
    }
    each(3, [](int i) {
        for (int k = 0; k < 3; k++) {
            try {
                std::this_thread::yield();
                throw i;
            } catch (int caught) {
                assert(caught == i);
            }
        }
    });
}

static std::atomic<int> alive{0};
struct Counted {
    Counted() { alive++; }
    ~Counted() { alive--; }
    int value = 7;
};
static thread_local Counted local;

static void storage() {
    each(4, [](int i) {
        assert(local.value == 7);
        local.value = i;
        std::this_thread::yield();
        assert(local.value == i);
    });
    assert(alive == 0);
}

struct Singleton {
    int value;
    Singleton() : value(0) {
        std::this_thread::yield();
        value = 42;
    }
    static Singleton &get() {
        static Singleton instance;
        return instance;
    }
};

static void statics() {
    each(4, [](int) { assert(Singleton::get().value == 42); });
    std::once_flag flag;
    int calls = 0;
    each(3, [&](int) { std::call_once(flag, [&] { calls++; }); });
    assert(calls == 1);
}

static void pointers() {
    auto p = std::make_shared<Counted>();
    std::weak_ptr<Counted> weak = p;
    each(4, [p](int) {
        auto copy = p;
        assert(copy->value == 7);
    });
    p.reset();
    assert(weak.expired() && alive == 0);
}

static void detached() {
    auto done = std::make_shared<std::promise<void>>();
    auto wait = done->get_future();
    std::thread([done] { done->set_value(); }).detach();
    wait.wait();
}

static void wide() {
    struct Pair {
        long a, b;
    };
    std::atomic<Pair> pair{Pair{0, 0}};
    each(3, [&](int) {
        auto old = pair.load();
        while (!pair.compare_exchange_weak(old, Pair{old.a + 1, old.b + 2})) {
        }
    });
    assert(pair.load().a == 3 && pair.load().b == 6);
}

struct Trace {
    std::string &out;
    char name;
    ~Trace() { out += name; }
};

static void *leave_early(void *argument) {
    auto &out = *static_cast<std::string *>(argument);
    Trace a{out, 'a'};
    auto inner = [&] {
        Trace b{out, 'b'};
        try {
            Trace c{out, 'c'};
            pthread_exit(&out);
        } catch (...) {
            out += '!';
            throw;
        }
    };
    inner();
    return nullptr;
}

static void *wait_for_ever(void *argument) {
    auto &out = *static_cast<std::string *>(argument);
    Trace a{out, 'x'};
    std::string const text(100, 'y');
    for (;;) sleep(1);
    return nullptr;
}

static void unwinding() {
    std::string out;
    pthread_t t;
    void *result;
    pthread_create(&t, nullptr, leave_early, &out);
    pthread_join(t, &result);
    assert(result == &out && out == "c!ba");
    pthread_create(&t, nullptr, wait_for_ever, &out);
    std::this_thread::yield();
    pthread_cancel(t);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED && (out == "c!bax" || out == "c!ba"));
}

struct Big {
    long words[3];
};
static void big() {
    std::atomic<Big> value{Big{{0, 0, 0}}};
    each(3, [&](int) {
        Big old = value.load();
        while (!value.compare_exchange_strong(old, Big{{old.words[0] + 1, old.words[1] + 1, old.words[2] + 1}})) {
        }
        old = value.load(std::memory_order_acquire);
        assert(old.words[0] == old.words[2] && old.words[0] > 0);
    });
    assert(value.load().words[1] == 3);
    value.store(Big{{7, 8, 9}});
    assert(value.exchange(Big{}).words[2] == 9);
}

static void output() {
    each(2, [](int i) { std::cout << "thread " << i << std::endl; });
}

int main(int argc, char **argv) {
    static const std::pair<const char *, void (*)()> cases[] = {{"mutexes", mutexes}, {"conditions", conditions},
        {"timeouts", timeouts}, {"shared", shared}, {"futures", futures}, {"exceptions", exceptions},
        {"storage", storage}, {"statics", statics}, {"pointers", pointers}, {"detached", detached},
        {"wide", wide}, {"big", big}, {"unwinding", unwinding}, {"output", output}};
    for (auto &c : cases) {
        if (argc < 2) std::puts(c.first);
        else if (std::strcmp(argv[1], c.first) == 0) return c.second(), 0;
    }
    return argc < 2 ? 0 : 9;
}
