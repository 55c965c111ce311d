// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct s { atomic_int count; int data; };
static void drop(struct s *s) {
    if (atomic_fetch_sub_explicit(&s->count, 1, memory_order_acq_rel) == 1)
        free(s);
}
static void *run(void *s) {
    assert(((struct s *)s)->data == 3);
    drop(s);
    return 0;
}
int main(void) {
    struct s *s = malloc(sizeof *s);
    if (!s)
        return 0;
    atomic_init(&s->count, 2);
    s->data = 3;
    pthread_t t;
    pthread_create(&t, 0, run, s);
    drop(s);
    pthread_join(t, 0);
    return 0;
}
