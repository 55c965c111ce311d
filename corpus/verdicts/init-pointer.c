// expect: memory 4
int main(void) {
    int *p;
    return *p;
}
