// expect: safe
struct pair { int x, y; };
int main(void) {
    struct pair p = {1, 2};
    int *q = &p.y;
    return *q - 2;
}
