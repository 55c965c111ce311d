// wrong: assertion
#include <cassert>
#include <stdexcept>
static int checked(int x) {
    if (x > 5) throw std::runtime_error("too large");
    return x;
}
int main() {
    int seen = 0;
    try {
        seen = checked(7);
    } catch (const std::exception &) {
        seen = -1;
    }
#ifdef WRONG
    assert(seen == 7);
#else
    assert(seen == -1);
#endif
}
