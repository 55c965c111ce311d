// refused: _ZNSirsERi
#include <iostream>
int main() {
    int x;
    std::cin >> x; /* here */
    return x;
}
