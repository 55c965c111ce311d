// expect: safe
#include <pthread.h>
#include <stdlib.h>
struct object { pthread_mutex_t m; int users; };
static void *drop(void *arg) {
    struct object *o = arg;
    pthread_mutex_lock(&o->m);
    int last = --o->users == 0;
    pthread_mutex_unlock(&o->m);
    if (last) {
        pthread_mutex_destroy(&o->m);
        free(o);
    }
    return 0;
}
int main(void) {
    pthread_t t;
    struct object *o = malloc(sizeof *o);
    pthread_mutex_init(&o->m, 0);
    o->users = 2;
    pthread_create(&t, 0, drop, o);
    drop(o);
    pthread_join(t, 0);
    return 0;
}
