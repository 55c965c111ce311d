// wrong: assertion
#include <cassert>
#include <iostream>
#include <thread>
int main() {
    int x = 0;
    std::thread t([&x] {
        std::cout << "x is " << x << ", " << 1.5 << ' ' << 7ul << true << std::endl;
        x = 1;
    });
    t.join();
    std::cerr << "x is " << x << '\n' << std::flush;
#ifdef WRONG
    assert(x == 0);
#else
    assert(x == 1);
#endif
}
