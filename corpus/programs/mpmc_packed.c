/* A bounded queue for many producers and consumers whose two positions share one word: whoever moves one of them
   retries with what its compare-and-swap found. After the queue of the CDSChecker benchmarks. */
#include "common.h"

#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef BOTH
#define BOTH 0
#endif
#ifndef SIZE
#define SIZE 2
#endif
#define LOW 0xffffu
#define move(from, to) atomic_compare_exchange_strong_explicit(&positions, from, to, acq_rel, acq)
static atomic_uint positions; /* read << 16 | written */
static atomic_uint read_done, written;
static atomic_int array[SIZE];
static atomic_int *read_begin(void) {
    unsigned both = load(&positions, acq), out, in;
    for (;;) {
        out = both >> 16 & LOW;
        in = both & LOW;
        if (in == out) return NULL;
        if (move(&both, both + (1u << 16))) break;
    }
    while ((load(&written, acq) & LOW) != in) {}
    return &array[out % SIZE];
}
static void read_end(void) { fetch_add(&read_done, 1, rel); }
static atomic_int *write_begin(void) {
    unsigned both = load(&positions, acq), out, in;
    for (;;) {
        out = both >> 16 & LOW;
        in = both & LOW;
        if (in == ((out + SIZE) & LOW)) return NULL;
        if (move(&both, out << 16 | ((in + 1) & LOW))) break;
    }
    while ((load(&read_done, acq) & LOW) != out) {}
    return &array[in % SIZE];
}
static void write_end(void) { fetch_add(&written, 1, rel); }
static void *writer(void *arg) {
    atomic_int *bin = write_begin();
    store(bin, 1, rlx);
    write_end();
    return NULL;
}
static void *reader(void *arg) {
    atomic_int *bin;
    while ((bin = read_begin())) {
        load(bin, rlx);
        read_end();
    }
    return NULL;
}
static void *both(void *arg) {
    writer(arg);
    return reader(arg);
}
int main(void) {
    for (int i = 0; i < WRITERS; i++) spawn(writer, i);
    for (int i = 0; i < READERS; i++) spawn(reader, i);
    for (int i = 0; i < BOTH; i++) spawn(both, i);
    join_all();
    return 0;
}
