// Bit-fields that clang takes for one integer of an odd size: 72, 80, 96, 120, 152 and 200 bits.
#include <stdio.h>
#include <string.h>

#pragma pack(push, 1)
struct nine {
    unsigned a : 5;
    signed b : 31;
    unsigned long c : 33;
    signed d : 3;
};
struct ten {
    signed long a : 40;
    unsigned long b : 40;
};
struct twelve {
    signed a : 13;
    unsigned b : 29;
    signed long c : 54;
};
struct fifteen {
    unsigned a : 1;
    signed long b : 60;
    unsigned long c : 59;
};
struct nineteen {
    signed a : 20;
    unsigned long b : 50;
    signed long c : 63;
    signed d : 19;
};
struct large {
    unsigned long a : 61;
    signed long b : 63;
    unsigned c : 7;
    signed long d : 55;
    unsigned e : 14;
};
#pragma pack(pop)

static struct nine nine;
static struct ten ten;
static struct twelve twelve = {-5, 77, -123456789};
static struct fifteen fifteen;
static struct nineteen nineteen = {-3, 1234567890123, -42, 99};
static struct large large = {1, -2, 3, -4, 5};

static void bytes(const void *from, unsigned size) {
    const unsigned char *at = from;
    for (unsigned i = 0; i < size; i++)
        printf("%02x", at[i]);
    printf("\n");
}

int main(void) {
    for (long i = 1; i < 40; i++) {
        nine.a += 3;
        nine.b -= i * 77;
        nine.c ^= (unsigned long)i << (i % 33);
        nine.d = nine.b;
        ten.a = ten.a * 31 - i;
        ten.b += ten.a;
        twelve.a = twelve.b >> 3;
        twelve.b += twelve.a;
        twelve.c = twelve.c * 3 + twelve.a;
        fifteen.a = !fifteen.a;
        fifteen.b -= ten.a;
        fifteen.c += (unsigned long)fifteen.b;
        nineteen.a++;
        nineteen.b = nineteen.b * 5 + i;
        nineteen.c -= nineteen.b;
        nineteen.d = nineteen.c >> 7;
        large.a = large.a * 3 + 1;
        large.b = large.b * -7;
        large.c += i;
        large.d ^= large.b;
        large.e = large.d;
    }
    printf("%u %d %lu %d\n", nine.a, nine.b, (unsigned long)nine.c, nine.d);
    printf("%ld %lu\n", (long)ten.a, (unsigned long)ten.b);
    printf("%d %u %ld\n", twelve.a, twelve.b, (long)twelve.c);
    printf("%u %ld %lu\n", fifteen.a, (long)fifteen.b, (unsigned long)fifteen.c);
    printf("%d %lu %ld %d\n", nineteen.a, (unsigned long)nineteen.b, (long)nineteen.c, nineteen.d);
    printf("%lu %ld %u %ld %u\n", (unsigned long)large.a, (long)large.b, large.c, (long)large.d, large.e);
    bytes(&nine, sizeof nine);
    bytes(&ten, sizeof ten);
    bytes(&twelve, sizeof twelve);
    bytes(&fifteen, sizeof fifteen);
    bytes(&nineteen, sizeof nineteen);
    bytes(&large, sizeof large);
    return 0;
}
