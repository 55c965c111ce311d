// refused: stub-none.c:7:12: a call of sensor, which the program does not define and --stub does not name, is not supported
// options: --stub other
int sensor(void);
int main(void) {
    // The first call that cannot be followed is named.
    int twice = 2;
    return sensor() * twice;
}
