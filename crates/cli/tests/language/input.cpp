// refused: std::basic_istream<char, std::char_traits<char> >::operator>>
#include <iostream>
int main() {
    int x;
    std::cin >> x; /* here */
    return x;
}
