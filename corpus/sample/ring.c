// A single-producer single-consumer ring; the argument is the number of items.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
enum { SIZE = 1024 };
static long slots[SIZE];
static _Alignas(64) atomic_ulong head;
static _Alignas(64) atomic_ulong tail;
static long items;
static void *producer(void *u) {
    for (long i = 0; i < items; i++) {
        unsigned long t = atomic_load_explicit(&tail, memory_order_relaxed);
        while (t - atomic_load_explicit(&head, memory_order_acquire) >= SIZE) sched_yield();
        slots[t % SIZE] = i;
        atomic_store_explicit(&tail, t + 1, memory_order_release);
    }
    return u;
}
static long sum;
static void *consumer(void *u) {
    for (long i = 0; i < items; i++) {
        unsigned long h = atomic_load_explicit(&head, memory_order_relaxed);
        while (atomic_load_explicit(&tail, memory_order_acquire) == h) sched_yield();
        sum += slots[h % SIZE];
        atomic_store_explicit(&head, h + 1, memory_order_release);
    }
    return u;
}
int main(int c, char **v) {
    items = c > 1 ? atol(v[1]) : 1000;
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    printf("%ld\n", sum);
    return sum == items * (items - 1) / 2 ? 0 : 1;
}
