// expect: safe
// models: c20
// A future hands on what its thread throws.
#include <cassert>
#include <future>
#include <stdexcept>
int main() {
    auto result = std::async(std::launch::async, []() -> int { throw std::runtime_error("x"); });
    try {
        result.get();
        assert(false);
    } catch (const std::runtime_error &error) {
        assert(error.what()[0] == 'x');
    }
}
