// Labels as values (GNU C): an interpreter with a table of addresses, and one with a table of differences.
#include <stdio.h>
static int run(const unsigned char *code) {
    static void *const table[] = {&&push, &&add, &&multiply, &&decrement, &&again, &&end};
    int stack[8], top = 0;
    const unsigned char *at = code;
#define NEXT goto *table[*at++]
    NEXT;
push:
    stack[top++] = *at++;
    NEXT;
add:
    top--;
    stack[top - 1] += stack[top];
    NEXT;
multiply:
    top--;
    stack[top - 1] *= stack[top];
    NEXT;
decrement:
    stack[0]--;
    NEXT;
again:
    if (stack[0] > 0)
        at = code + *at;
    else
        at++;
    NEXT;
end:
    return stack[top - 1];
}
static int by_difference(int what) {
    static const int table[] = {&&zero - &&zero, &&one - &&zero, &&two - &&zero};
    int sum = 0;
    goto *(&&zero + table[what]);
zero:
    sum += 1;
one:
    sum += 10;
two:
    sum += 100;
    return sum;
}
static const char *stored(int n) {
    void *where = n % 2 ? &&odd : &&even;
    goto *where;
odd:
    return "odd";
even:
    return "even";
}
int main(void) {
    const unsigned char sum[] = {0, 6, 0, 7, 2, 0, 8, 1, 5};
    const unsigned char loop[] = {0, 5, 0, 1, 0, 3, 2, 3, 4, 4, 5};
    printf("%d %d\n", run(sum), run(loop));
    for (int i = 0; i < 3; i++)
        printf("%d %s\n", by_difference(i), stored(i));
    return 0;
}
