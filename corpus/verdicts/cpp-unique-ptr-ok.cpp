// expect: safe
// options: --leaks
#include <memory>
int main() {
    auto p = std::make_unique<int>(3);
    return *p - 3;
}
