// expect: memory 5
const char text[] = "abc";
int n = 4;
int main(void) {
    return text[n];
}
