// defines: _ZNSt3__1* _ZNKSt3__1* _ZTVNSt3__1* _ZTINSt3__1* _ZTSNSt3__1* _ZNSt13exception_ptr*
// defines: _ZSt17rethrow_exceptionSt13exception_ptr _ZNSt11logic_errorC1ERKNSt3__1* _ZNSt11logic_errorC2ERKNSt3__1*
// defines: _ZNSt13runtime_errorC1ERKNSt3__1* _ZNSt13runtime_errorC2ERKNSt3__1*
// flags: -stdlib=libc++
// What libc++ keeps outside its headers, for threads, locks, futures, shared_ptr, errors and containers. What the
// standard leaves to a library is done in the way that a search has least to follow.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

#define PART __attribute__((weak))

// What `exceptions.cpp` says of an object that was thrown.
extern "C" {
void __porf_keep_exception(void *object) noexcept;
void __porf_drop_exception(void *object) noexcept;
[[noreturn]] void __porf_throw_again(void *object);
}

namespace std {

// Exceptions: the pointer is to the object that was thrown.
PART exception_ptr::exception_ptr(const exception_ptr &other) noexcept : __ptr_(other.__ptr_) {
    __porf_keep_exception(__ptr_);
}
PART exception_ptr &exception_ptr::operator=(const exception_ptr &other) noexcept {
    if (__ptr_ != other.__ptr_) {
        __porf_drop_exception(__ptr_);
        __ptr_ = other.__ptr_;
        __porf_keep_exception(__ptr_);
    }
    return *this;
}
PART exception_ptr::~exception_ptr() noexcept { __porf_drop_exception(__ptr_); }
[[noreturn]] PART void rethrow_exception(exception_ptr pointer) {
    void *object = pointer.__ptr_;
    __porf_keep_exception(object);
    // What unwinding would do: the parameter is in no scope that has a landing pad.
    pointer = nullptr;
    __porf_throw_again(object);
}
PART logic_error::logic_error(const string &text) : logic_error(text.c_str()) {}
PART runtime_error::runtime_error(const string &text) : runtime_error(text.c_str()) {}

inline namespace __1 {

// Errors.
PART error_category::~error_category() noexcept {}
PART error_condition error_category::default_error_condition(int code) const noexcept {
    return error_condition(code, *this);
}
PART bool error_category::equivalent(int code, const error_condition &condition) const noexcept {
    return default_error_condition(code) == condition;
}
PART bool error_category::equivalent(const error_code &code, int condition) const noexcept {
    return *this == code.category() && code.value() == condition;
}
} // namespace __1
} // namespace std

namespace {
struct Category : std::error_category {
    const char *title;
    constexpr Category(const char *title) noexcept : title(title) {}
    const char *name() const noexcept override { return title; }
    std::string message(int) const override { return title; }
};
const Category generic("generic"), from_system("system"), of_futures("future");
} // namespace

namespace std {
inline namespace __1 {

PART const error_category &generic_category() noexcept { return generic; }
PART const error_category &system_category() noexcept { return from_system; }
PART const error_category &future_category() noexcept { return of_futures; }
PART string error_code::message() const { return __cat_->message(__val_); }
PART string error_condition::message() const { return __cat_->message(__val_); }
PART system_error::system_error(error_code code, const string &text) : runtime_error(text), __ec_(code) {}
PART system_error::system_error(error_code code, const char *text) : runtime_error(text), __ec_(code) {}
PART system_error::system_error(error_code code) : runtime_error(code.category().name()), __ec_(code) {}
PART system_error::system_error(int code, const error_category &category, const string &text)
    : runtime_error(text), __ec_(code, category) {}
PART system_error::system_error(int code, const error_category &category, const char *text)
    : runtime_error(text), __ec_(code, category) {}
PART system_error::system_error(int code, const error_category &category)
    : runtime_error(category.name()), __ec_(code, category) {}
PART system_error::~system_error() noexcept {}
PART void __throw_system_error(int code, const char *text) {
    throw system_error(error_code(code, system_category()), text);
}
PART future_error::future_error(error_code code) : logic_error("std::future_error"), __ec_(code) {}
PART future_error::~future_error() noexcept {}
PART bad_weak_ptr::~bad_weak_ptr() noexcept {}
PART const char *bad_weak_ptr::what() const noexcept { return "bad_weak_ptr"; }

// Mutexes: those of POSIX, whose misuse is told of.
#ifndef _LIBCPP_HAS_TRIVIAL_MUTEX_DESTRUCTION
PART mutex::~mutex() noexcept { pthread_mutex_destroy(&__m_); }
#endif
PART void mutex::lock() { pthread_mutex_lock(&__m_); }
PART bool mutex::try_lock() noexcept { return pthread_mutex_trylock(&__m_) == 0; }
PART void mutex::unlock() noexcept { pthread_mutex_unlock(&__m_); }

PART recursive_mutex::recursive_mutex() {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&__m_, &kind);
    pthread_mutexattr_destroy(&kind);
}
PART recursive_mutex::~recursive_mutex() { pthread_mutex_destroy(&__m_); }
PART void recursive_mutex::lock() { pthread_mutex_lock(&__m_); }
PART bool recursive_mutex::try_lock() noexcept { return pthread_mutex_trylock(&__m_) == 0; }
PART void recursive_mutex::unlock() noexcept { pthread_mutex_unlock(&__m_); }

// A flag under a lock. Headers wait for it with a time limit.
PART timed_mutex::timed_mutex() : __locked_(false) {}
PART timed_mutex::~timed_mutex() { lock_guard<mutex> all(__m_); }
PART void timed_mutex::lock() {
    unique_lock<mutex> all(__m_);
    while (__locked_)
        __cv_.wait(all);
    __locked_ = true;
}
PART bool timed_mutex::try_lock() noexcept {
    unique_lock<mutex> all(__m_);
    if (__locked_)
        return false;
    __locked_ = true;
    return true;
}
PART void timed_mutex::unlock() noexcept {
    lock_guard<mutex> all(__m_);
    __locked_ = false;
    __cv_.notify_one();
}

PART recursive_timed_mutex::recursive_timed_mutex() : __count_(0), __id_{} {}
PART recursive_timed_mutex::~recursive_timed_mutex() { lock_guard<mutex> all(__m_); }
PART void recursive_timed_mutex::lock() {
    unique_lock<mutex> all(__m_);
    __thread_id own = this_thread::get_id();
    if (__count_ == 0 || __id_ != own)
        while (__count_ != 0)
            __cv_.wait(all);
    __count_++;
    __id_ = own;
}
PART bool recursive_timed_mutex::try_lock() noexcept {
    unique_lock<mutex> all(__m_);
    __thread_id own = this_thread::get_id();
    if (__count_ != 0 && __id_ != own)
        return false;
    __count_++;
    __id_ = own;
    return true;
}
PART void recursive_timed_mutex::unlock() noexcept {
    unique_lock<mutex> all(__m_);
    if (--__count_ == 0) {
        __id_ = __thread_id();
        __cv_.notify_one();
    }
}

// Readers and writers: the state counts readers, and its highest bit is a writer. Nobody is preferred.
PART __shared_mutex_base::__shared_mutex_base() : __state_(0) {}
PART void __shared_mutex_base::lock() {
    unique_lock<mutex> all(__mut_);
    while (__state_ != 0)
        __gate1_.wait(all);
    __state_ = __write_entered_;
}
PART bool __shared_mutex_base::try_lock() {
    unique_lock<mutex> all(__mut_);
    if (__state_ != 0)
        return false;
    __state_ = __write_entered_;
    return true;
}
PART void __shared_mutex_base::unlock() {
    lock_guard<mutex> all(__mut_);
    __state_ = 0;
    __gate1_.notify_all();
}
PART void __shared_mutex_base::lock_shared() {
    unique_lock<mutex> all(__mut_);
    while (__state_ & __write_entered_)
        __gate1_.wait(all);
    __state_++;
}
PART bool __shared_mutex_base::try_lock_shared() {
    unique_lock<mutex> all(__mut_);
    if (__state_ & __write_entered_)
        return false;
    __state_++;
    return true;
}
PART void __shared_mutex_base::unlock_shared() {
    lock_guard<mutex> all(__mut_);
    if (--__state_ == 0)
        __gate1_.notify_all();
}
PART shared_timed_mutex::shared_timed_mutex() : __base() {}
PART void shared_timed_mutex::lock() { __base.lock(); }
PART bool shared_timed_mutex::try_lock() { return __base.try_lock(); }
PART void shared_timed_mutex::unlock() { __base.unlock(); }
PART void shared_timed_mutex::lock_shared() { __base.lock_shared(); }
PART bool shared_timed_mutex::try_lock_shared() { return __base.try_lock_shared(); }
PART void shared_timed_mutex::unlock_shared() { __base.unlock_shared(); }

// Condition variables.
#ifndef _LIBCPP_HAS_TRIVIAL_CONDVAR_DESTRUCTION
PART condition_variable::~condition_variable() { pthread_cond_destroy(&__cv_); }
#endif
PART void condition_variable::notify_one() noexcept { pthread_cond_signal(&__cv_); }
PART void condition_variable::notify_all() noexcept { pthread_cond_broadcast(&__cv_); }
PART void condition_variable::wait(unique_lock<mutex> &lock) noexcept {
    pthread_cond_wait(&__cv_, lock.mutex()->native_handle());
}
PART void condition_variable::__do_timed_wait(unique_lock<mutex> &lock,
                                              chrono::time_point<chrono::system_clock, chrono::nanoseconds> end) noexcept {
    long long since = end.time_since_epoch().count();
    timespec time = {static_cast<time_t>(since / 1000000000), static_cast<long>(since % 1000000000)};
    pthread_cond_timedwait(&__cv_, lock.mutex()->native_handle(), &time);
}

// Atomic objects that threads wait for: a loop that waits is enough, and nobody need be woken.
PART void __cxx_atomic_notify_one(void const volatile *) {}
PART void __cxx_atomic_notify_all(void const volatile *) {}
PART void __cxx_atomic_notify_one(__cxx_atomic_contention_t const volatile *) {}
PART void __cxx_atomic_notify_all(__cxx_atomic_contention_t const volatile *) {}

// 0: not begun, 1: under way, all bits: done.
PART void __call_once(volatile once_flag::_State_type &flag, void *argument, void (*function)(void *)) {
    using State = once_flag::_State_type;
    auto *state = const_cast<State *>(&flag);
    State none = 0;
    while (!__atomic_compare_exchange_n(state, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        if (none == ~State(0))
            return;
        none = 0;
    }
    try {
        function(argument);
    } catch (...) {
        __atomic_store_n(state, 0, __ATOMIC_RELEASE);
        throw;
    }
    __atomic_store_n(state, ~State(0), __ATOMIC_RELEASE);
}

// Threads.
class __thread_struct_imp {
public:
    struct Told {
        condition_variable *condition;
        mutex *lock;
    };
    vector<Told> told;
    vector<__assoc_sub_state *> states;

    ~__thread_struct_imp() {
        for (Told &one : told) {
            one.condition->notify_all();
            one.lock->unlock();
        }
        for (__assoc_sub_state *state : states) {
            state->__make_ready();
            state->__release_shared();
        }
    }
};

// Few threads have something to do at their end: the rest is made when the first asks for it.
PART __thread_struct::__thread_struct() : __p_(nullptr) {}
PART __thread_struct::~__thread_struct() { delete __p_; }
PART void __thread_struct::notify_all_at_thread_exit(condition_variable *condition, mutex *lock) {
    if (!__p_)
        __p_ = new __thread_struct_imp;
    __p_->told.push_back({condition, lock});
}
PART void __thread_struct::__make_ready_at_thread_exit(__assoc_sub_state *state) {
    if (!__p_)
        __p_ = new __thread_struct_imp;
    state->__add_shared();
    __p_->states.push_back(state);
}
PART void notify_all_at_thread_exit(condition_variable &condition, unique_lock<mutex> lock) {
    auto &own = __thread_local_data();
    if (!own.get())
        own.set_pointer(new __thread_struct);
    own->notify_all_at_thread_exit(&condition, lock.release());
}

namespace {
alignas(__thread_specific_ptr<__thread_struct>) char local_data[sizeof(__thread_specific_ptr<__thread_struct>)];
} // namespace

PART __thread_specific_ptr<__thread_struct> &__thread_local_data() {
    static auto *data = new (local_data) __thread_specific_ptr<__thread_struct>();
    return *data;
}

PART thread::~thread() {
    if (__t_ != 0)
        terminate();
}
PART void thread::join() {
    if (__t_ == 0)
        __throw_system_error(EINVAL, "thread::join failed");
    pthread_join(__t_, nullptr);
    __t_ = 0;
}
PART void thread::detach() {
    if (__t_ == 0)
        __throw_system_error(EINVAL, "thread::detach failed");
    pthread_detach(__t_);
    __t_ = 0;
}
PART unsigned thread::hardware_concurrency() noexcept { return 2; }
namespace this_thread {
PART void sleep_for(const chrono::nanoseconds &time) {
    long long count = time.count();
    timespec left = {static_cast<time_t>(count / 1000000000), static_cast<long>(count % 1000000000)};
    if (count > 0)
        nanosleep(&left, nullptr);
}
} // namespace this_thread

namespace chrono {
static long long now(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
PART system_clock::time_point system_clock::now() noexcept {
    return time_point(duration_cast<duration>(nanoseconds(chrono::now(CLOCK_REALTIME))));
}
PART time_t system_clock::to_time_t(const time_point &time) noexcept {
    return duration_cast<seconds>(time.time_since_epoch()).count();
}
PART system_clock::time_point system_clock::from_time_t(time_t time) noexcept {
    return time_point(seconds(time));
}
PART steady_clock::time_point steady_clock::now() noexcept {
    return time_point(nanoseconds(chrono::now(CLOCK_MONOTONIC)));
}
} // namespace chrono

// shared_ptr: the counts are one less than the owners.
PART __shared_count::~__shared_count() {}
PART __shared_weak_count::~__shared_weak_count() {}
PART void __shared_weak_count::__release_weak() noexcept {
    if (__atomic_fetch_sub(&__shared_weak_owners_, 1, __ATOMIC_ACQ_REL) == 0)
        __on_zero_shared_weak();
}
PART __shared_weak_count *__shared_weak_count::lock() noexcept {
    long owners = __atomic_load_n(&__shared_owners_, __ATOMIC_RELAXED);
    while (owners != -1)
        if (__atomic_compare_exchange_n(&__shared_owners_, &owners, owners + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return this;
    return nullptr;
}
PART const void *__shared_weak_count::__get_deleter(const type_info &) const noexcept { return nullptr; }

// Futures.
PART void __assoc_sub_state::__on_zero_shared() noexcept { delete this; }
PART void __assoc_sub_state::__make_ready() {
    unique_lock<mutex> all(__mut_);
    __state_ |= ready;
    __cv_.notify_all();
}
PART void __assoc_sub_state::set_value() {
    unique_lock<mutex> all(__mut_);
    if (__has_value())
        __throw_future_error(future_errc::promise_already_satisfied);
    __state_ |= __constructed | ready;
    __cv_.notify_all();
}
PART void __assoc_sub_state::set_value_at_thread_exit() {
    unique_lock<mutex> all(__mut_);
    if (__has_value())
        __throw_future_error(future_errc::promise_already_satisfied);
    __state_ |= __constructed;
    __thread_local_data()->__make_ready_at_thread_exit(this);
}
PART void __assoc_sub_state::set_exception(exception_ptr pointer) {
    unique_lock<mutex> all(__mut_);
    if (__has_value())
        __throw_future_error(future_errc::promise_already_satisfied);
    __exception_ = pointer;
    __state_ |= ready;
    __cv_.notify_all();
}
PART void __assoc_sub_state::set_exception_at_thread_exit(exception_ptr pointer) {
    unique_lock<mutex> all(__mut_);
    if (__has_value())
        __throw_future_error(future_errc::promise_already_satisfied);
    __exception_ = pointer;
    __thread_local_data()->__make_ready_at_thread_exit(this);
}
PART void __assoc_sub_state::wait() {
    unique_lock<mutex> all(__mut_);
    __sub_wait(all);
}
PART void __assoc_sub_state::__sub_wait(unique_lock<mutex> &all) {
    if (__is_ready())
        return;
    if (__state_ & deferred) {
        __state_ &= ~static_cast<unsigned>(deferred);
        all.unlock();
        __execute();
    } else {
        while (!__is_ready())
            __cv_.wait(all);
    }
}
PART void __assoc_sub_state::copy() {
    unique_lock<mutex> all(__mut_);
    __sub_wait(all);
    if (__exception_ != nullptr)
        rethrow_exception(__exception_);
}
PART void __assoc_sub_state::__execute() { __throw_future_error(future_errc::no_state); }

PART future<void>::future(__assoc_sub_state *state) : __state_(state) { __state_->__attach_future(); }
PART future<void>::~future() {
    if (__state_)
        __state_->__release_shared();
}
PART void future<void>::get() {
    unique_ptr<__shared_count, __release_shared_count> released(__state_);
    __assoc_sub_state *state = __state_;
    __state_ = nullptr;
    state->copy();
}
PART promise<void>::promise() : __state_(new __assoc_sub_state) {}
PART promise<void>::~promise() {
    if (!__state_)
        return;
    if (!__state_->__has_value() && __state_->use_count() > 1)
        __state_->set_exception(
            make_exception_ptr(future_error(make_error_code(future_errc::broken_promise))));
    __state_->__release_shared();
}
PART future<void> promise<void>::get_future() {
    if (!__state_)
        __throw_future_error(future_errc::no_state);
    return future<void>(__state_);
}
PART void promise<void>::set_value() {
    if (!__state_)
        __throw_future_error(future_errc::no_state);
    __state_->set_value();
}
PART void promise<void>::set_exception(exception_ptr pointer) {
    if (!__state_)
        __throw_future_error(future_errc::no_state);
    __state_->set_exception(pointer);
}
PART void promise<void>::set_value_at_thread_exit() {
    if (!__state_)
        __throw_future_error(future_errc::no_state);
    __state_->set_value_at_thread_exit();
}
PART void promise<void>::set_exception_at_thread_exit(exception_ptr pointer) {
    if (!__state_)
        __throw_future_error(future_errc::no_state);
    __state_->set_exception_at_thread_exit(pointer);
}
PART shared_future<void>::~shared_future() {
    if (__state_)
        __state_->__release_shared();
}
PART shared_future<void> &shared_future<void>::operator=(const shared_future &other) {
    if (other.__state_)
        other.__state_->__add_shared();
    if (__state_)
        __state_->__release_shared();
    __state_ = other.__state_;
    return *this;
}

// Unordered containers ask for a number of buckets.
PART size_t __next_prime(size_t least) {
    for (size_t n = least < 2 ? 2 : least;; n++) {
        size_t d = 2;
        while (d * d <= n && n % d != 0)
            d++;
        if (d * d > n)
            return n;
    }
}

// Strings: the members of a template that is instantiated here.
template class PART basic_string<char>;

#define TO_STRING(type, format)                                                                                       \
    PART string to_string(type value) {                                                                               \
        char text[32];                                                                                                \
        snprintf(text, sizeof text, format, value);                                                                   \
        return text;                                                                                                  \
    }
TO_STRING(int, "%d")
TO_STRING(unsigned, "%u")
TO_STRING(long, "%ld")
TO_STRING(unsigned long, "%lu")
TO_STRING(long long, "%lld")
TO_STRING(unsigned long long, "%llu")

} // namespace __1
} // namespace std
