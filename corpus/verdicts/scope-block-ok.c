// expect: safe
int main(void) {
    int x = 0, *p;
    {
        p = &x;
    }
    return *p;
}
