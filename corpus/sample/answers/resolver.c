// The C library allocates and frees behind its own locks.
#define _GNU_SOURCE
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *resolve(void *unused) {
    struct addrinfo *found = 0;
    if (!getaddrinfo("localhost", "80", 0, &found)) freeaddrinfo(found);
    char *text = 0;
    if (asprintf(&text, "%d %s", 7, "seven") != 7) abort();
    free(text);
    FILE *file = fopen("/dev/null", "w");
    fprintf(file, "%f", 0.5);
    fclose(file);
    time_t zero = 0;
    struct tm broken;
    localtime_r(&zero, &broken);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, resolve, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
