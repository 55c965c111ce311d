// refused: throwing an exception
#include <stdexcept>
static int checked(int x) {
    if (x > 5) throw std::runtime_error("too large"); /* here */
    return x;
}
int main() {
    try {
        return checked(7);
    } catch (const std::exception &) {
        return 0;
    }
}
