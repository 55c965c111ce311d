// expect: memory 14
// models: lkmm
// What call_rcu is given is freed beside readers that nobody knows of.
#include <assert.h>
#include <lkmm.h>
#include <pthread.h>
struct item {
    int value;
    struct rcu_head rcu;
} *shared;
void release(struct rcu_head *head) { kfree(container_of(head, struct item, rcu)); }
void *read(void *unused) {
    struct item *seen = rcu_dereference(shared);
    int value = READ_ONCE(seen->value);
    assert(value == 1 || value == 2);
    return 0;
}
struct item *make(int value) {
    struct item *made = kmalloc(sizeof *made, GFP_KERNEL);
    WRITE_ONCE(made->value, value);
    return made;
}

int main(void) {
    pthread_t t;
    struct item *old = make(1), *new = make(2);
    rcu_assign_pointer(shared, old);
    pthread_create(&t, 0, read, 0);
    rcu_assign_pointer(shared, new);
    call_rcu(&old->rcu, release);
    pthread_join(t, 0);
}
