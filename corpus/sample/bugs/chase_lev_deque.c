// The work-stealing deque of Chase and Lev (SPAA 2005) in C11, after Lê et al. (PPoPP 2013). The grown
// array is published by a relaxed store and a thief looks at the bottom with a relaxed load, so it may read
// an array that is not filled.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    size_t size;
    atomic_int buffer[];
} array;

typedef struct {
    atomic_size_t top, bottom;
    _Atomic(array *) elements;
} deque;

enum { EMPTY = -1, ABORT = -2 };

static array *new_array(size_t size) {
    array *a = calloc(1, sizeof(array) + size * sizeof(atomic_int));
    a->size = size;
    return a;
}

static void grow(deque *q) {
    array *old = atomic_load_explicit(&q->elements, memory_order_relaxed);
    array *fresh = new_array(old->size * 2);
    size_t const top = atomic_load_explicit(&q->top, memory_order_relaxed);
    size_t const bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed);
    for (size_t i = top; i < bottom; i++) {
        int const x = atomic_load_explicit(&old->buffer[i % old->size], memory_order_relaxed);
        atomic_store_explicit(&fresh->buffer[i % fresh->size], x, memory_order_relaxed);
    }
    // Bug: should be release.
    atomic_store_explicit(&q->elements, fresh, memory_order_relaxed);
}

static void push(deque *q, int x) {
    size_t const bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed);
    size_t const top = atomic_load_explicit(&q->top, memory_order_acquire);
    array *a = atomic_load_explicit(&q->elements, memory_order_relaxed);
    if (bottom - top > a->size - 1) {
        grow(q);
        a = atomic_load_explicit(&q->elements, memory_order_relaxed);
    }
    atomic_store_explicit(&a->buffer[bottom % a->size], x, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&q->bottom, bottom + 1, memory_order_relaxed);
}

static int take(deque *q) {
    size_t const bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed) - 1;
    array *a = atomic_load_explicit(&q->elements, memory_order_relaxed);
    atomic_store_explicit(&q->bottom, bottom, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    size_t top = atomic_load_explicit(&q->top, memory_order_relaxed);
    if (top > bottom) {
        atomic_store_explicit(&q->bottom, bottom + 1, memory_order_relaxed);
        return EMPTY;
    }
    int x = atomic_load_explicit(&a->buffer[bottom % a->size], memory_order_relaxed);
    if (top == bottom) {
        if (!atomic_compare_exchange_strong_explicit(&q->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed))
            x = EMPTY;
        atomic_store_explicit(&q->bottom, bottom + 1, memory_order_relaxed);
    }
    return x;
}

static int steal(deque *q) {
    size_t top = atomic_load_explicit(&q->top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    // Bug: should be acquire.
    size_t const bottom = atomic_load_explicit(&q->bottom, memory_order_relaxed);
    if (top >= bottom) return EMPTY;
    array *a = atomic_load_explicit(&q->elements, memory_order_relaxed);
    int const x = atomic_load_explicit(&a->buffer[top % a->size], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&q->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed))
        return ABORT;
    return x;
}

static deque queue;
static atomic_int stolen;

static void *thief(void *unused) {
    for (int i = 0; i < 12; i++) {
        int const x = steal(&queue);
        if (x > 0) atomic_fetch_add_explicit(&stolen, x, memory_order_relaxed);
    }
    return unused;
}

int main(void) {
    pthread_t thieves[4];
    atomic_init(&queue.elements, new_array(1));
    push(&queue, 1);
    for (int i = 0; i < 4; i++) pthread_create(&thieves[i], NULL, thief, NULL);
    push(&queue, 2);
    push(&queue, 4);
    push(&queue, 8);
    push(&queue, 16);
    push(&queue, 32);
    int taken = 0;
    for (int i = 0; i < 6; i++) {
        int const x = take(&queue);
        if (x > 0) taken += x;
    }
    for (int i = 0; i < 4; i++) pthread_join(thieves[i], NULL);
    // Whatever was aborted or missed is lost to this test, but nothing comes out twice.
    assert(taken + stolen <= 63);
    return 0;
}
