// expect: memory 8
int main(void) {
    char *p;
    {
        char a[4] = "abc";
        p = a;
    }
    return p[0];
}
