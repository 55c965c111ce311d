// expect: memory 4
int main(void) {
    double d;
    return d > 1.0;
}
