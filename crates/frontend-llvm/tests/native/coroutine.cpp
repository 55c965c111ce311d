// Coroutines: a generator, and a task that waits for another.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>

struct Numbers {
    struct promise_type {
        int value;
        Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::printf("unhandled\n"); }
    };
    std::coroutine_handle<promise_type> handle;
};

struct Local {
    ~Local() { std::printf("local ends\n"); }
};

Numbers squares(int count) {
    Local local;
    for (int i = 0; i < count; i++)
        co_yield i *i;
    if (count > 3)
        throw std::runtime_error("too many");
}

int main() {
    for (int count = 3; count < 5; count++) {
        Numbers numbers = squares(count);
        for (numbers.handle.resume(); !numbers.handle.done(); numbers.handle.resume())
            std::printf("%d\n", numbers.handle.promise().value);
        numbers.handle.destroy();
    }
}
