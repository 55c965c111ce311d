// expect: safe
int *p;
int main(void) {
    return p ? *p : 0;
}
