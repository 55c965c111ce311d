// defines: __once_proxy _ZNSt28__atomic_futex_unsigned_base* _ZNSt13__future_base12_Result_base*
// defines: _ZSt15__once_callable _ZSt11__once_call _ZNSt13__future_base19_Async_state_commonD*
// defines: _ZTVNSt13__future_base12_Result_baseE _ZTINSt13__future_base12_Result_baseE
// What libstdc++ keeps outside its headers for std::call_once, std::future, std::promise and std::async.
#include <future>
#include <mutex>

namespace std {

__thread void *__once_callable;
__thread void (*__once_call)();

extern "C" void __once_proxy(void) { __once_call(); }

extern "C" bool __VERIFIER_nondet_bool(void);
extern "C" void __VERIFIER_assume(int);

// Waiting on a futex: until the word has another value. Whoever changes it need not say so. With a deadline
// it may also end before that.
bool __atomic_futex_unsigned_base::_M_futex_wait_until(unsigned *word, unsigned value, bool timed,
                                                       chrono::seconds, chrono::nanoseconds) {
    if (timed) {
        if (__VERIFIER_nondet_bool())
            return false;
        __VERIFIER_assume(__atomic_load_n(word, __ATOMIC_RELAXED) != value);
        return true;
    }
    while (__atomic_load_n(word, __ATOMIC_RELAXED) == value) {
    }
    return true;
}

bool __atomic_futex_unsigned_base::_M_futex_wait_until_steady(unsigned *word, unsigned value, bool timed,
                                                              chrono::seconds s, chrono::nanoseconds n) {
    return _M_futex_wait_until(word, value, timed, s, n);
}

void __atomic_futex_unsigned_base::_M_futex_notify_all(unsigned *) {}

__future_base::_Result_base::_Result_base() = default;
__future_base::_Result_base::~_Result_base() = default;

} // namespace std
