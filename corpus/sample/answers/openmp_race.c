// Mistakes with OpenMP: each case has a data race.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void sum(void) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4; i++) shared += i;
}

static void no_wait(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp single nowait
        shared = 1;
        if (shared == 2) abort();
    }
}

static void iterations(void) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < 4; i++) shared = i;
}

static void tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        shared = 1;
#pragma omp task
        shared = 2;
    }
}

static void criticals(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(one)
        shared++;
#pragma omp critical(other)
        shared++;
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"sum", sum}, {"no_wait", no_wait}, {"iterations", iterations}, {"tasks", tasks}, {"criticals", criticals}};
    for (int i = 0; i < 5; i++) {
        if (argc < 2) puts(cases[i].name);
        else if (!strcmp(argv[1], cases[i].name)) cases[i].run();
    }
    return 0;
}
