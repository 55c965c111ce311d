// wrong: assertion
#include <cassert>
#include <stdexcept>
struct Guard {
    int &depth;
    explicit Guard(int &depth) : depth(depth) { depth++; }
    ~Guard() { depth--; }
};
static int depth;
static int checked(int x) {
    Guard guard(depth);
    if (x > 5) throw std::runtime_error("too large");
    return x;
}
int main() {
    int y = 0;
    try {
        y = checked(3) + checked(4);
    } catch (const std::exception &) {
        y = -1;
    }
#ifdef WRONG
    assert(depth == 1);
#endif
    assert(y == 7 && depth == 0);
}
