// Two threads count; with an argument they forget to lock.
#include "counter.h"
#include <thread>

int main(int argc, char **) {
    std::thread a(counter_add, argc < 2), b(counter_add, argc < 2);
    a.join();
    b.join();
    return counter_value() == 2 ? 0 : 1;
}
