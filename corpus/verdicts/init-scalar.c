// expect: memory 4
int main(void) {
    int x;
    return x;
}
