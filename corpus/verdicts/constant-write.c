// expect: memory 4
char *p = "abc";
int main(void) {
    p[0] = 'x';
    return 0;
}
