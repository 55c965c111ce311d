#include <stdint.h>
#include <stdio.h>
#include <limits.h>
int main(void) {
    int a = 17, b = -5;
    printf("%d %d %d %d %d\n", a + b, a - b, a * b, a / b, a % b);
    unsigned u = 4000000000u;
    printf("%u %u %u %u\n", u / 7, u % 7, u << 3, u >> 5);
    printf("%d %d\n", b >> 1, (int)((unsigned)b >> 1));
    int8_t c = (int8_t)200; uint8_t d = (uint8_t)-3; int16_t e = (int16_t)70000;
    printf("%d %d %d\n", c, d, e);
    long long l = LLONG_MAX; unsigned long long m = (unsigned long long)l * 2 + 1;
    printf("%lld %llu %lld\n", l, m, (long long)m);
    printf("%d %d %d %d\n", a > b, a < b, a == 17, a != 17);
    printf("%d %d\n", (unsigned)b > (unsigned)a, b > a);
    __int128 w = (__int128)l * l; 
    printf("%llx %llx\n", (unsigned long long)(w >> 64), (unsigned long long)w);
    w = w / 12345 - 7; w = -w; w >>= 3;
    printf("%llx %llx %d\n", (unsigned long long)(w >> 64), (unsigned long long)w, w < 0);
    unsigned __int128 uw = ((unsigned __int128)m << 64) | 12345; uw %= 1000000007;
    printf("%llu\n", (unsigned long long)uw);
    printf("%d %d %d %d\n", __builtin_popcount(0xdeadbeef), __builtin_clz(12345), __builtin_ctz(4096), __builtin_bswap32(0x01020304));
    int r; printf("%d ", __builtin_add_overflow(INT_MAX, 1, &r)); printf("%d\n", r);
    printf("%d ", __builtin_mul_overflow(50000, 50000, &r)); printf("%d\n", r);
    _Bool t = a; printf("%d %d\n", t, !t);
    printf("%d\n", (a > 3 && b < 0) || a / (b + 5 ? b + 5 : 1) > 2);
    struct { unsigned x : 3; int y : 5; unsigned z : 24; } f = {0};
    f.x = 9; f.y = -7; f.z = 0xabcdef; f.x += 3;
    printf("%u %d %x\n", f.x, f.y, f.z);
    return 0;
}
