// setjmp and longjmp: to the own function, to callers, and again.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outer, inner;

static void deep(int depth, int value) {
    if (depth == 0)
        longjmp(value > 4 ? outer : inner, value);
    deep(depth - 1, value);
    printf("not here\n");
}

static void middle(volatile int value) {
    int result = setjmp(inner);
    printf("inner %d\n", result);
    if (result < 4) {
        value++;
        deep(3, result + 1);
    }
    deep(2, 5 + value);
}

int main(void) {
    volatile int count = 0;
    int result = setjmp(outer);
    printf("outer %d\n", result);
    if (++count < 4)
        middle(count);
    jmp_buf own;
    switch (setjmp(own)) {
    case 0:
        printf("first\n");
        longjmp(own, 0);
    case 1:
        printf("one\n");
        break;
    default:
        printf("wrong\n");
    }
    return 0;
}
