// expect: safe
int main(void) {
    int x;
    goto set;
use:
    return x;
set:
    x = 0;
    goto use;
}
