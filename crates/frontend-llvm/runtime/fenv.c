// defines: fesetround fegetround feclearexcept fetestexcept feraiseexcept feholdexcept fegetenv fesetenv feupdateenv
// defines: fegetexceptflag fesetexceptflag
// Floating-point environment (C17 7.6): rounding to nearest, and no flags.
#include <fenv.h>

#define PART __attribute__((weak))

extern void __porf_unsupported(const char *what);

PART int fesetround(int mode) {
    if (mode != FE_TONEAREST)
        __porf_unsupported("rounding other than to nearest (fesetround)");
    return 0;
}
PART int fegetround(void) { return FE_TONEAREST; }
PART int feclearexcept(int flags) { return 0; }
PART int fetestexcept(int flags) {
    __porf_unsupported("floating-point flags (fetestexcept)");
    return 0;
}
PART int feraiseexcept(int flags) { return 0; }
PART int feholdexcept(fenv_t *environment) { return 0; }
PART int fegetenv(fenv_t *environment) { return 0; }
PART int fesetenv(const fenv_t *environment) { return 0; }
PART int feupdateenv(const fenv_t *environment) { return 0; }
PART int fegetexceptflag(fexcept_t *flags, int which) { return 0; }
PART int fesetexceptflag(const fexcept_t *flags, int which) { return 0; }
