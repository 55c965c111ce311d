// Fibers of the program's own in one thread: a switch orders them, unless it is one that does not.
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void *);
void __tsan_switch_to_fiber(void *, unsigned);
enum { IN_ORDER = 0, NO_ORDER = 1 };

static ucontext_t here, there;
static void *main_fiber, *other_fiber;
static unsigned go, back;
static char stack[64 * 1024] __attribute__((aligned(16)));
int data;

static void body(void) {
    for (;;) {
        data = 1;
        __tsan_switch_to_fiber(main_fiber, back);
        swapcontext(&there, &here);
    }
}

static void visit(void) {
    __tsan_switch_to_fiber(other_fiber, go);
    swapcontext(&here, &there);
}

int main(int argc, char **argv) {
#ifdef RIGHT
    // The last: what main does before the fiber is created is ordered anyway, and what the fiber did by the second switch.
    static const char *const names[] = {"in_order", "created_later"};
    static const unsigned ways[][2] = {{IN_ORDER, IN_ORDER}, {NO_ORDER, IN_ORDER}};
#else
    static const char *const names[] = {"neither", "only_back", "only_there"};
    static const unsigned ways[][2] = {{NO_ORDER, NO_ORDER}, {NO_ORDER, IN_ORDER}, {IN_ORDER, NO_ORDER}};
#endif
    int which = -1;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (argc < 2) puts(names[i]);
        else if (!strcmp(argv[1], names[i])) which = i;
    }
    if (which < 0) return argc > 1;
    go = ways[which][0];
    back = ways[which][1];
    main_fiber = __tsan_get_current_fiber();
#ifdef RIGHT
    if (which == 1) data = 2;
#endif
    other_fiber = __tsan_create_fiber(0);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, body, 0);
#ifdef RIGHT
    if (which == 0) data = 2;
#else
    data = 2;
#endif
    visit();
    data = 3;
    __tsan_destroy_fiber(other_fiber);
    return 0;
}
