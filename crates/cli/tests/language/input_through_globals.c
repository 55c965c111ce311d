// wrong: assertion
// Input that goes through global variables: what the program tells apart there is tried.
#include <assert.h>
#include <pthread.h>
int __VERIFIER_nondet_int(void);
static int limit, unread;
static void *reader(void *unused) {
#ifdef WRONG
    assert(limit != 123456);
#else
    assert(limit == 123456 || limit != 123456);
#endif
    return unused;
}
int main(void) {
    pthread_t thread;
    limit = __VERIFIER_nondet_int();
    unread = __VERIFIER_nondet_int();
    pthread_create(&thread, 0, reader, 0);
    pthread_join(thread, 0);
    return 0;
}
