// A counter in a library of its own.
#include "counter.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int value;

void counter_add(int locked) {
    if (locked) pthread_mutex_lock(&mutex);
    value++;
    if (locked) pthread_mutex_unlock(&mutex);
}

int counter_value(void) { return value; }
