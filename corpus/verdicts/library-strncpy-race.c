// expect: race 7
// expect: race 12
// models: rc11
#include <pthread.h>
#include <string.h>
char name[8];
static void *thread(void *arg) { strncpy(name, "thread", 8); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    char copy[8];
    strncpy(copy, name, 8);
    pthread_join(t, 0);
}
