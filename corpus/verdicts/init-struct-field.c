// expect: memory 6
struct pair { int x, y; };
int main(void) {
    struct pair p;
    p.x = 1;
    return p.y;
}
