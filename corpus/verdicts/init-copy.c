// expect: memory 4
int main(void) {
    int x;
    int y = x;
    return y;
}
