// refused: x86_fp80
int main(int argc, char **argv) {
    long double x = argc; /* here */
    return x * 2 > 5;
}
