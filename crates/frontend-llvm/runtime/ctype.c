// defines: __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max
// defines: isalpha isdigit isalnum isspace isupper islower isprint ispunct isxdigit iscntrl isgraph isblank isascii
// defines: toupper tolower toascii
// Characters of the "C" locale (C17 7.4), as functions and as the tables behind the macros of glibc.
#define PART __attribute__((weak))

// glibc's bits on a little-endian machine.
enum {
    UPPER = 1 << 8,
    LOWER = 1 << 9,
    ALPHA = 1 << 10,
    DIGIT = 1 << 11,
    XDIGIT = 1 << 12,
    SPACE = 1 << 13,
    PRINT = 1 << 14,
    GRAPH = 1 << 15,
    BLANK = 1 << 0,
    CNTRL = 1 << 1,
    PUNCT = 1 << 2,
    ALNUM = 1 << 3,
    VISIBLE = PRINT | GRAPH,
    LETTER = VISIBLE | ALPHA | ALNUM,
};

#define AT(c) [128 + (c)]
#define RANGE(a, b) [128 + (a)... 128 + (b)]

static const unsigned short kinds[384] = {
    RANGE(0, 8) = CNTRL,
    AT('\t') = CNTRL | SPACE | BLANK,
    RANGE(10, 13) = CNTRL | SPACE,
    RANGE(14, 31) = CNTRL,
    AT(' ') = SPACE | BLANK | PRINT,
    RANGE('!', '/') = VISIBLE | PUNCT,
    RANGE('0', '9') = VISIBLE | DIGIT | XDIGIT | ALNUM,
    RANGE(':', '@') = VISIBLE | PUNCT,
    RANGE('A', 'F') = LETTER | UPPER | XDIGIT,
    RANGE('G', 'Z') = LETTER | UPPER,
    RANGE('[', '`') = VISIBLE | PUNCT,
    RANGE('a', 'f') = LETTER | LOWER | XDIGIT,
    RANGE('g', 'z') = LETTER | LOWER,
    RANGE('{', '~') = VISIBLE | PUNCT,
    AT(127) = CNTRL,
};
static const unsigned short *const kinds_at = kinds + 128;

PART const unsigned short **__ctype_b_loc(void) { return (const unsigned short **)&kinds_at; }

#define ROW(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define LETTERS(a) ROW(a), ROW(a + 8), ROW(a + 16), a + 24, a + 25
#define ROWS(n) ROW(n), ROW(n + 8), ROW(n + 16), ROW(n + 24)
#define HIGH ROWS(128), ROWS(160), ROWS(192), ROWS(224)
#define LOW ROWS(-128), ROWS(-96), ROWS(-64), ROWS(-32)
static const int lowers[384] = {LOW,          ROWS(0),          ROWS(32), '@', LETTERS('a'), '[', '\\', ']', '^',
                                '_',          '`',              LETTERS('a'), '{', '|', '}', '~', 127, HIGH};
static const int uppers[384] = {LOW,          ROWS(0),          ROWS(32), '@', LETTERS('A'), '[', '\\', ']', '^',
                                '_',          '`',              LETTERS('A'), '{', '|', '}', '~', 127, HIGH};
static const int *const lowers_at = lowers + 128;
static const int *const uppers_at = uppers + 128;

PART const int **__ctype_tolower_loc(void) { return (const int **)&lowers_at; }
PART const int **__ctype_toupper_loc(void) { return (const int **)&uppers_at; }
PART unsigned long __ctype_get_mb_cur_max(void) { return 1; }

#define KIND(name, bit)                                                                                               \
    PART int name(int c) { return kinds_at[c] & bit; }
KIND(isalpha, ALPHA)
KIND(isdigit, DIGIT)
KIND(isalnum, ALNUM)
KIND(isspace, SPACE)
KIND(isupper, UPPER)
KIND(islower, LOWER)
KIND(isprint, PRINT)
KIND(ispunct, PUNCT)
KIND(isxdigit, XDIGIT)
KIND(iscntrl, CNTRL)
KIND(isgraph, GRAPH)
KIND(isblank, BLANK)
PART int isascii(int c) { return c >= 0 && c < 128; }
PART int toascii(int c) { return c & 127; }
PART int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
PART int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
