// wrong: assertion
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key, other;
static int destroyed;
static void destroy(void *p) {
    destroyed += *(int *)p;
    free(p);
}
static void *run(void *arg) {
    int *p = malloc(sizeof *p);
    *p = 7;
    pthread_setspecific(key, p);
    pthread_setspecific(other, &destroyed);
    if (arg) pthread_exit((void *)3);
    return (void *)3;
}
int main(void) {
    pthread_key_create(&key, destroy);
    pthread_key_create(&other, NULL);
    for (long i = 0; i < 2; i++) {
        pthread_t t;
        void *result;
        pthread_create(&t, NULL, run, (void *)i);
        pthread_join(t, &result);
        assert(result == (void *)3);
    }
#ifdef WRONG
    assert(destroyed == 7);
#else
    assert(destroyed == 14);
#endif
    return 0;
}
