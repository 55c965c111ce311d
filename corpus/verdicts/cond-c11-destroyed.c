// expect: lock 7
#include <threads.h>
cnd_t c;
int main(void) {
    cnd_init(&c);
    cnd_destroy(&c);
    cnd_signal(&c);
    return 0;
}
