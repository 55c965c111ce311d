// expect: safe
// The kernel's number of a thread, by a system call that has no arguments. Unknown calls fail.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static long other;
static void *run(void *unused) {
    other = syscall(SYS_gettid);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
    long mine = syscall(SYS_gettid);
    assert(mine > 0 && other > 0 && mine != other);
    assert(mine == getpid());
    assert(syscall(100000) == -1 && errno == ENOSYS);
}
