// wrong: assertion
#include <cassert>
#include <thread>
static int alive;
struct Static {
    Static() { alive++; }
    ~Static() {
        alive--;
#ifdef WRONG
        assert(alive == 1);
#else
        assert(alive == 0);
#endif
    }
};
static int locals;
struct Local {
    int value = 1;
    ~Local() { locals += value; }
};
static Static object;
static thread_local Local local;
int main() {
    assert(alive == 1);
    std::thread t([] { local.value = 2; });
    t.join();
    assert(locals == 2);
}
