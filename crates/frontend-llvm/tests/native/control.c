#include <stdio.h>
#include <setjmp.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int collatz(unsigned n) { int s = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; s++; } return s; }
static const char *day(int d) { switch (d) { case 0: return "sun"; case 1: return "mon"; case 2: case 3: return "mid"; case -4: return "neg"; default: return "other"; } }
static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
static int odd(int n); static int even(int n) { return n == 0 ? 1 : odd(n - 1); } static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; } static int mul(int a, int b) { return a * b; }
static int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
int main(void) {
    printf("%d %d %d\n", fib(15), collatz(27), gcd(462, 1071));
    for (int i = -5; i < 6; i++) printf("%s ", day(i));
    printf("\n%d %d\n", even(10), odd(7));
    op ops[] = {add, mul}; for (int i = 0; i < 2; i++) printf("%d ", ops[i](6, 7)); printf("\n");
    int i = 0, s = 0; do { if (i == 3) { i++; continue; } if (i > 8) break; s += i; i++; } while (1); printf("%d\n", s);
    for (int a = 0, b = 10; a < b; a += 2, b--) printf("%d:%d ", a, b); printf("\n");
    i = 0; again: if (i++ < 3) { printf("g%d ", i); goto again; } printf("\n");
    int x = 1, y = 2; for (int k = 0; k < 5; k++) { int t = x; x = y; y = t; } printf("%d %d\n", x, y);
    printf("%d\n", ack(2, 3));
    for (int p = 2; p < 60; p++) { int prime = 1; for (int q = 2; q * q <= p; q++) if (p % q == 0) { prime = 0; break; } if (prime) printf("%d ", p); }
    printf("\n"); return 0;
}
