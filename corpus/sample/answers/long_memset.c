// Work between two steps is progress, also on a machine that has much else to do. A sleep that the sampler does not
// see stands for what else the machine does: the program takes ten times as long as the work in it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static void others_run(void) {
    struct timespec time = {0, 75000000};
    long result = SYS_nanosleep;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0) : "rcx", "r11", "memory");
}

static void *work(void *unused) {
    size_t size = 8 << 20;
    char *memory = malloc(size);
    for (int i = 0; i < 4; i++) {
        memset(memory, i, size);
        __asm__ volatile("" ::"r"(memory) : "memory");
        others_run();
    }
    free(memory);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
