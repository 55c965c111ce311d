// expect: memory 7
int main(void) {
    int *p;
    {
        p = (int[]){1, 2};
    }
    return p[1];
}
