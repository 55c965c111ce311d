// defines: _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE* _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE*
// What libstdc++ keeps outside its headers for std::string: the members of a template that is instantiated there.
#include <string>

template class std::basic_string<char>;
template std::string std::operator+(const char *, const std::string &);
