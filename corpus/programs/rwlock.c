/* pthread reader-writer locks. */
#include "common.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int data;
static void *writer(void *arg) {
#ifdef BUG_READ_LOCK
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    data++;
    pthread_rwlock_unlock(&lock);
    return NULL;
}
static void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int before = data;
    assert(data == before);
    pthread_rwlock_unlock(&lock);
    return NULL;
}
int main(void) {
    spawn(writer, 0);
    spawn(writer, 1);
    spawn(reader, 0);
    join_all();
    assert(data == 2);
    return 0;
}
