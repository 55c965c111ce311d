// expect: safe
// models: rc11 tso
// A lock by xchg, as many headers write it.
#include <assert.h>
#include <pthread.h>
static volatile int lock;
static int counter;
static void take(void) {
    int held = 1;
    while (held) __asm__ volatile("xchgl %0,%1" : "+r"(held), "+m"(lock)::"memory");
}
static void give(void) { int free = 0; __asm__ volatile("xchgl %0,%1" : "+r"(free), "+m"(lock)::"memory"); }
static void *thread(void *arg) {
    take();
    counter++;
    give();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, thread, 0);
    pthread_create(&b, 0, thread, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
}
