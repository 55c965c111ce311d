// expect: safe
char p[] = "abc";
int main(void) {
    p[0] = 'x';
    return 0;
}
