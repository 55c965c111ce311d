// expect: safe
#include <thread>
int made;
struct S { S() { made++; } };
void use() { static S s; }
int main() {
    std::thread t(use);
    use();
    t.join();
    return made - 1;
}
