#include <math.h>
#include <stdio.h>
static float poly(float x) { return 3 * x * x - 2 * x + 1; }
static double newton(double a) { double x = a; for (int i = 0; i < 20; i++) x = (x + a / x) / 2; return x; }
struct v { float x, y; }; struct w { double a; int b; };
static struct v scale(struct v p, float k) { struct v r = {p.x * k, p.y * k}; return r; }
static struct w both(struct w p) { p.a *= 2; p.b++; return p; }
int main(void) {
    printf("%f %f\n", poly(1.5f), newton(2.0));
    printf("%g %g %g\n", 0.1 + 0.2, 1.0 / 3, 1e300 * 1e10);
    printf("%d %d %u %ld\n", (int)3.99, (int)-3.99, (unsigned)3e9, (long)1e15);
    printf("%f %f %f\n", (double)7, (double)4000000000u, (float)16777217);
    double n = NAN; printf("%d %d %d %d\n", n == n, n < 1, !(n >= 1), 1.5 < 2.5);
    printf("%.3f %.3f %.3f %.3f\n", sqrt(2), floor(-1.5), ceil(1.2), fabs(-3.25));
    printf("%.6f %.6f %.6f\n", pow(2, 0.5), fmod(10.5, 3), trunc(-2.7));
    struct v p = scale((struct v){1.5f, -2}, 4); printf("%g %g\n", p.x, p.y);
    struct w q = both((struct w){1.25, 6}); printf("%g %d\n", q.a, q.b);
    float s = 0; for (int i = 1; i < 100; i++) s += 1.0f / i; printf("%.7f\n", s);
    double d = 0; for (int i = 1; i < 100; i++) d += 1.0 / (i * i); printf("%.15f %e %g\n", d, d, d * 1e-9);
    float m[2][2] = {{1, 2}, {3, 4}}, r[2][2] = {{0}}; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) for (int k = 0; k < 2; k++) r[i][j] += m[i][k] * m[k][j];
    printf("%g %g %g %g\n", r[0][0], r[0][1], r[1][0], r[1][1]);
    double z = -0.0; printf("%g %f %d\n", z, -z, signbit(z) != 0);
    typedef float f4 __attribute__((vector_size(16))); f4 a = {1, 2, 3, 4}, b = {4, 3, 2, 1}; f4 c = a * b + a; printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    typedef int i4 __attribute__((vector_size(16))); i4 e = {1, -2, 3, -4}; i4 f = e * e - e; i4 g = f > 5; printf("%d %d %d %d %d\n", f[0], f[1], f[2], f[3], g[1]);
    return 0;
}
