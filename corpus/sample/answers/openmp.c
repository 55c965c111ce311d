// Everything of OpenMP that shares something, used rightly.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int right) {
    if (!right) abort();
}

static void regions(void) {
    int seen[4] = {0}, sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        check(omp_in_parallel() && omp_get_num_threads() == 4);
        seen[omp_get_thread_num()]++;
        sum += omp_get_thread_num();
#pragma omp barrier
        check(seen[(omp_get_thread_num() + 1) % 4] == 1);
    }
    check(sum == 6 && !omp_in_parallel());
}

static void loops(void) {
    int data[40] = {0};
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 40; i++) data[i] += i;
#pragma omp parallel for schedule(dynamic, 3) num_threads(3)
    for (int i = 0; i < 40; i++) data[i] += i;
#pragma omp parallel num_threads(3)
    {
#pragma omp for schedule(guided)
        for (int i = 39; i >= 0; i--) data[i] += i;
#pragma omp for schedule(dynamic) nowait
        for (unsigned long i = 0; i < 40; i += 2) data[i] += i;
    }
    for (int i = 0; i < 40; i++) check(data[i] == (i % 2 ? 3 : 4) * i);
}

static void exclusion(void) {
    int plain = 0, named = 0, locked = 0, nested = 0, atomic = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        plain++;
#pragma omp critical(name)
        named++;
#pragma omp atomic
        atomic++;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    check(plain == 3 && named == 3 && locked == 3 && nested == 3 && atomic == 3);
}

static void once(void) {
    int single = 0, value = 0, sections = 0;
#pragma omp parallel num_threads(3) private(value)
    {
#pragma omp single
        single++;
        check(single == 1);
#pragma omp single copyprivate(value)
        value = 7;
        check(value == 7);
#pragma omp sections reduction(+ : sections)
        {
            sections += 1;
#pragma omp section
            sections += 2;
#pragma omp section
            sections += 4;
        }
    }
    check(sections == 7);
}

static void ordered(void) {
    int last = -1;
#pragma omp parallel for ordered schedule(dynamic) num_threads(3)
    for (int i = 0; i < 9; i++) {
#pragma omp ordered
        {
            check(last == i - 1);
            last = i;
        }
    }
    check(last == 8);
}

static int fibonacci(int n) {
    if (n < 2) return n;
    int a, b;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void) {
    int result = 0, parts[10] = {0}, chain = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        result = fibonacci(5);
#pragma omp taskgroup
        for (int i = 0; i < 5; i++)
#pragma omp task firstprivate(i)
            parts[i] = i;
        for (int i = 0; i < 5; i++) check(parts[i] == i);
#pragma omp taskloop
        for (int i = 5; i < 10; i++) parts[i] = i;
        for (int i = 5; i < 10; i++) check(parts[i] == i);
#pragma omp task depend(out : chain)
        chain = 1;
#pragma omp task depend(in : chain)
        check(chain == 1);
    }
    check(result == 5);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"regions", regions}, {"loops", loops},     {"exclusion", exclusion},
                 {"once", once},       {"ordered", ordered}, {"tasks", tasks}};
    for (int i = 0; i < 6; i++) {
        if (argc < 2) puts(cases[i].name);
        else if (!strcmp(argv[1], cases[i].name)) cases[i].run();
    }
    return 0;
}
