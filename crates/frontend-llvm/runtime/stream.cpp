// Writing to std::cout, std::cerr and std::clog, under the names by which libstdc++ exports it. Manipulators
// other than std::endl, std::ends and std::flush have no effect on the form of numbers.
#include <cstdio>

struct Stream;
#define EXPORT(name) asm(#name)

Stream *put_bool(Stream *s, bool x) EXPORT(_ZNSolsEb);
Stream *put_bool(Stream *s, bool x) { return std::printf("%d", x), s; }
Stream *put_short(Stream *s, short x) EXPORT(_ZNSolsEs);
Stream *put_short(Stream *s, short x) { return std::printf("%d", x), s; }
Stream *put_ushort(Stream *s, unsigned short x) EXPORT(_ZNSolsEt);
Stream *put_ushort(Stream *s, unsigned short x) { return std::printf("%u", x), s; }
Stream *put_int(Stream *s, int x) EXPORT(_ZNSolsEi);
Stream *put_int(Stream *s, int x) { return std::printf("%d", x), s; }
Stream *put_uint(Stream *s, unsigned x) EXPORT(_ZNSolsEj);
Stream *put_uint(Stream *s, unsigned x) { return std::printf("%u", x), s; }
Stream *put_long(Stream *s, long x) EXPORT(_ZNSolsEl);
Stream *put_long(Stream *s, long x) { return std::printf("%ld", x), s; }
Stream *put_ulong(Stream *s, unsigned long x) EXPORT(_ZNSolsEm);
Stream *put_ulong(Stream *s, unsigned long x) { return std::printf("%lu", x), s; }
Stream *put_llong(Stream *s, long long x) EXPORT(_ZNSolsEx);
Stream *put_llong(Stream *s, long long x) { return std::printf("%lld", x), s; }
Stream *put_ullong(Stream *s, unsigned long long x) EXPORT(_ZNSolsEy);
Stream *put_ullong(Stream *s, unsigned long long x) { return std::printf("%llu", x), s; }
Stream *put_float(Stream *s, float x) EXPORT(_ZNSolsEf);
Stream *put_float(Stream *s, float x) { return std::printf("%g", x), s; }
Stream *put_double(Stream *s, double x) EXPORT(_ZNSolsEd);
Stream *put_double(Stream *s, double x) { return std::printf("%g", x), s; }
Stream *put_pointer(Stream *s, const void *x) EXPORT(_ZNSolsEPKv);
Stream *put_pointer(Stream *s, const void *x) { return std::printf("%p", x), s; }

Stream *manipulate(Stream *s, Stream *(*by)(Stream *)) EXPORT(_ZNSolsEPFRSoS_E);
Stream *manipulate(Stream *s, Stream *(*by)(Stream *)) { return by(s); }

Stream *put_string(Stream *s, const char *x)
    EXPORT(_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc);
Stream *put_string(Stream *s, const char *x) { return std::printf("%s", x), s; }
Stream *put_char(Stream *s, char x) EXPORT(_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c);
Stream *put_char(Stream *s, char x) { return std::printf("%c", x), s; }
Stream *insert(Stream *s, const char *x, long length)
    EXPORT(_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l);
Stream *insert(Stream *s, const char *x, long length) {
    for (long i = 0; i < length; i++)
        std::printf("%c", x[i]);
    return s;
}
Stream *write(Stream *s, const char *x, long length) EXPORT(_ZNSo5writeEPKcl);
Stream *write(Stream *s, const char *x, long length) { return insert(s, x, length); }
Stream *put(Stream *s, char x) EXPORT(_ZNSo3putEc);
Stream *put(Stream *s, char x) { return put_char(s, x); }
Stream *flush(Stream *s) EXPORT(_ZNSo5flushEv);
Stream *flush(Stream *s) { return s; }
Stream *flush_it(Stream *s) EXPORT(_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_);
Stream *flush_it(Stream *s) { return s; }
Stream *endl(Stream *s) EXPORT(_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_);
Stream *endl(Stream *s) { return put_char(s, '\n'); }
Stream *ends(Stream *s) EXPORT(_ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_);
Stream *ends(Stream *s) { return put_char(s, '\0'); }

void start(void *) EXPORT(_ZNSt8ios_base4InitC1Ev);
void start(void *) {}
void stop(void *) EXPORT(_ZNSt8ios_base4InitD1Ev);
void stop(void *) {}
