// wrong: memory
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct gap { char c; long l; };
static struct gap *shared;
static void *run(void *arg) {
    struct gap copy;
    memcpy(&copy, (char *)shared, sizeof copy);
    assert(copy.c == 1);
#ifdef WRONG
    assert(((char *)shared)[1] == 0);
#endif
    return NULL;
}
int main(void) {
    shared = malloc(sizeof *shared);
    shared->c = 1, shared->l = 2;
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    free(shared);
    return 0;
}
