// refused: no execution is complete
// options: --unroll 3
// How often the loop runs depends on what it reads, although it counts too.
#include <stdatomic.h>
atomic_int limit = 8;
int main(void) {
    for (int i = 0; i < atomic_load(&limit); i++)
        ;
    return 0;
}
