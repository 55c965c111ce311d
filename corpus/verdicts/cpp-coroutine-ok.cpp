// expect: safe
// models: c20
// A coroutine goes on in another thread.
#include <cassert>
#include <coroutine>
#include <thread>
struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
int steps;
Task run() {
    int mine = ++steps;
    co_await std::suspend_always{};
    steps = mine + 1;
}
int main() {
    Task task = run();
    task.handle.resume();
    assert(steps == 1);
    std::thread t([&] { task.handle.resume(); });
    t.join();
    assert(steps == 2 && task.handle.done());
    task.handle.destroy();
}
