#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int key; struct node *left, *right; };
static struct node *insert(struct node *n, int key) {
    if (!n) { n = malloc(sizeof *n); n->key = key; n->left = n->right = NULL; return n; }
    if (key < n->key) n->left = insert(n->left, key); else n->right = insert(n->right, key);
    return n;
}
static void walk(struct node *n) { if (n) { walk(n->left); printf("%d ", n->key); walk(n->right); } }
static void drop(struct node *n) { if (n) { drop(n->left); drop(n->right); free(n); } }
struct big { int a[10]; char name[16]; double d; };
static struct big make(int i) { struct big b; memset(&b, 0, sizeof b); for (int k = 0; k < 10; k++) b.a[k] = i * k; snprintf(b.name, sizeof b.name, "big-%d", i); b.d = i / 4.0; return b; }
static int sum(struct big b) { int s = 0; for (int k = 0; k < 10; k++) s += b.a[k]; b.a[0] = 99; return s; }
int table[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
const char *names[] = {"zero", "one", "two"};
struct pt { short x; char c; long y; } gp = {3, 'q', -9};
union u { float f; unsigned i; unsigned char b[4]; };
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void sort(int *v, int n, int (*c)(const void *, const void *)) {
    for (int i = 1; i < n; i++) for (int j = i; j > 0 && c(&v[j - 1], &v[j]) > 0; j--) { int t = v[j]; v[j] = v[j - 1]; v[j - 1] = t; }
}
int main(int argc, char **argv) {
    struct node *root = NULL;
    int keys[] = {5, 2, 8, 1, 9, 3};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) root = insert(root, keys[i]);
    walk(root); printf("\n"); drop(root);
    struct big b = make(3), c = b;
    printf("%d %s %g %d\n", sum(b), c.name, c.d, b.a[0]);
    for (int i = 0; i < 4; i++) { for (int j = 0; j < 3; j++) printf("%d,", table[i][j]); printf("\n"); }
    table[3][1] = 42; int *p = &table[0][0]; printf("%d %s %s\n", p[10], names[1], names[2]);
    struct pt q = gp; gp.x = 77; printf("%d %c %ld %d\n", q.x, q.c, q.y, gp.x);
    union u u; u.f = 1.5f; printf("%x %d\n", u.i, u.b[3]);
    int v[] = {4, 1, 3, 9, -2}; sort(v, 5, cmp); for (int i = 0; i < 5; i++) printf("%d ", v[i]); printf("\n");
    char buf[32]; strcpy(buf, "hello"); strcat(buf, ", world"); printf("%s %zu %d\n", buf, strlen(buf), strcmp(buf, "help"));
    memmove(buf + 2, buf, 5); printf("%s\n", buf);
    int *z = calloc(5, sizeof(int)); z[2] = 7; printf("%d %d\n", z[0], z[2]); free(z);
    int n = 6; int vla[n]; for (int i = 0; i < n; i++) vla[i] = i * i; printf("%d\n", vla[n - 1]);
    static char shared[64]; snprintf(shared, sizeof shared, "%s/%d", "path", 12); printf("%s %d\n", shared, argc);
    printf("%s\n", strchr(shared, '/'));
    return argv[0] == NULL;
}
