// expect: safe
// An undeclared function gives an int. Nobody looks at what it becomes.
#include <pthread.h>
void *run(void *unused) { return (void *)__VERIFIER_nondet_pointer(); }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
}
