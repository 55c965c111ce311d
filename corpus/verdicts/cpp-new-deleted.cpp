// expect: memory 5
int main() {
    int *p = new int(1);
    delete p;
    return *p;
}
