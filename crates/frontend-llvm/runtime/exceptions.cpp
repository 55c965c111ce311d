// defines: __cxa_allocate_exception __cxa_free_exception __cxa_throw __cxa_rethrow __cxa_begin_catch __cxa_end_catch
// defines: __cxa_get_exception_ptr __cxa_current_exception_type __dynamic_cast __cxa_bad_cast __cxa_bad_typeid
// defines: __cxa_throw_bad_array_new_length __cxa_init_primary_exception __cxa_call_unexpected
// defines: _ZNSt15__exception_ptr* _ZNKSt15__exception_ptr* _ZSt17current_exceptionv
// defines: _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE _ZSt18uncaught_exceptionv
// defines: _ZSt19uncaught_exceptionsv _ZNSt9exceptionD* _ZNKSt9exception4whatEv _ZTISt9exception _ZTVSt9exception
// defines: _ZSt17__throw_bad_allocv _ZSt28__throw_bad_array_new_lengthv _ZSt16__throw_bad_castv
// defines: _ZSt19__throw_logic_errorPKc _ZSt20__throw_length_errorPKc _ZSt20__throw_out_of_rangePKc
// defines: _ZSt24__throw_out_of_range_fmtPKcz _ZSt24__throw_invalid_argumentPKc _ZSt20__throw_domain_errorPKc
// defines: _ZSt21__throw_runtime_errorPKc _ZSt19__throw_range_errorPKc _ZSt22__throw_overflow_errorPKc
// defines: _ZSt23__throw_underflow_errorPKc _ZSt20__throw_system_errori _ZSt20__throw_future_errori
// defines: _ZSt25__throw_bad_function_callv _ZSt19__throw_bad_typeidv _ZSt21__throw_bad_exceptionv
// defines: _ZNSt11logic_error* _ZNSt13runtime_error* _ZNKSt11logic_error* _ZNKSt13runtime_error* _ZNSt12length_error*
// defines: _ZNSt12out_of_range* _ZNSt16invalid_argument* _ZNSt12domain_error* _ZNSt11range_error*
// defines: _ZNSt14overflow_error* _ZNSt15underflow_error* _ZTISt11logic_error _ZTISt13runtime_error
// defines: _ZTISt12out_of_range _ZTISt16invalid_argument _ZTISt12length_error _ZTISt9bad_alloc _ZTISt8bad_cast
// defines: _ZTVSt11logic_error _ZTVSt13runtime_error _ZTVSt9bad_alloc _ZTVSt8bad_cast _ZNSt9bad_allocD*
// defines: _ZNSt8bad_castD* _ZNKSt9bad_alloc4whatEv _ZTISt12system_error _ZNSt12system_errorD* _ZTVSt12system_error
// defines: _ZNSt3_V2* _ZNSt12future_errorD* _ZTISt12future_error _ZTVSt12future_error _ZSt15future_categoryv
// defines: _ZTISt17bad_function_call _ZTVSt17bad_function_call _ZTVSt12bad_weak_ptr _ZTISt12bad_weak_ptr
// defines: _ZNSt12bad_weak_ptrD* _ZNKSt12bad_weak_ptr4whatEv _ZNSt14error_category* _ZTISt14error_category
// defines: _ZTVN10__cxxabiv1* _ZTIi _ZTIc _ZTIb _ZTIl _ZTIj _ZTIm _ZTId _ZTIf _ZTIPKc _ZTIPc _ZTIPi _ZTIPv _ZTIPKv
// defines: _ZTIN10__cxxabiv115__forced_unwindE _ZTIN10__cxxabiv119__foreign_exceptionE
// defines: __porf_keep_exception __porf_drop_exception __porf_throw_again
// defines: _ZNKSt9type_infoeqERKS_ _ZTIs _ZTIh _ZTIx _ZTIy _ZTISt16nested_exception _ZTISt13bad_exception
// Exceptions, as the Itanium C++ ABI has them, without the tables: `__porf_unwind` leaves calls up to a landing pad,
// and the code there asks `__porf_catches` for each of its types. A pad that does not catch unwinds further, so that
// the destructors up to it have run where nobody catches; the standard leaves that open ([except.handle]/9).
//
// An exception in flight is a record of its own: the same object may be thrown again by several threads at once.
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>

extern "C" [[noreturn]] void __porf_unwind(void *flight);

namespace {

// In front of every object that is thrown.
struct alignas(16) Thrown {
    std::type_info *type;
    void (*destroy)(void *);
    int references;
    void *object() { return this + 1; }
    static Thrown *of(void *object) { return static_cast<Thrown *>(object) - 1; }
};

struct Flight {
    Thrown *thrown;
    // What the handler gets: the object as its own type.
    void *adjusted;
    Flight *below;
    int handlers;
    bool again;
};

// Those that handlers of this thread have caught, the innermost first.
thread_local Flight *caught;
thread_local int uncaught;

void keep(Thrown *thrown) { __atomic_add_fetch(&thrown->references, 1, __ATOMIC_RELAXED); }

void drop(Thrown *thrown) {
    if (__atomic_sub_fetch(&thrown->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (thrown->destroy)
        thrown->destroy(thrown->object());
    std::free(thrown);
}

[[noreturn]] void fly(Thrown *thrown) {
    Flight *flight = static_cast<Flight *>(std::malloc(sizeof(Flight)));
    *flight = {thrown, thrown->object(), nullptr, 0, false};
    uncaught++;
    __porf_unwind(flight);
}

using abi::__base_class_type_info;
using abi::__class_type_info;
using abi::__pbase_type_info;
using abi::__pointer_type_info;
using abi::__si_class_type_info;
using abi::__vmi_class_type_info;

// Where a type is among the bases of an object, and whether there are several such places.
struct Search {
    const std::type_info *wanted;
    bool any_access;
    const char *found[4];
    int count;

    void add(const char *place) {
        for (int i = 0; i < count; i++)
            if (found[i] == place)
                return;
        if (count < 4)
            found[count++] = place;
    }

    void look(const std::type_info *type, const char *object) {
        if (type == wanted)
            return add(object);
        if (typeid(*type) == typeid(__si_class_type_info)) {
            look(static_cast<const __si_class_type_info *>(type)->__base_type, object);
        } else if (typeid(*type) == typeid(__vmi_class_type_info)) {
            auto *many = static_cast<const __vmi_class_type_info *>(type);
            for (unsigned i = 0; i < many->__base_count; i++) {
                const __base_class_type_info &base = many->__base_info[i];
                if (!base.__is_public_p() && !any_access)
                    continue;
                std::ptrdiff_t offset = base.__offset();
                if (base.__is_virtual_p())
                    offset = *reinterpret_cast<const std::ptrdiff_t *>(*reinterpret_cast<const char *const *>(object) +
                                                                      offset);
                look(base.__base_type, object + offset);
            }
        }
    }
};

bool is_class(const std::type_info &type) {
    return typeid(type) == typeid(__class_type_info) || typeid(type) == typeid(__si_class_type_info) ||
           typeid(type) == typeid(__vmi_class_type_info);
}

// Whether a class is another or has it as its only public base of that type; then the object is adjusted.
bool converts(const std::type_info *from, const std::type_info *to, void *&object) {
    if (from == to)
        return true;
    if (!object || !is_class(*from) || !is_class(*to))
        return false;
    Search search{to, false, {}, 0};
    search.look(from, static_cast<const char *>(object));
    if (search.count != 1)
        return false;
    object = const_cast<char *>(search.found[0]);
    return true;
}

} // namespace

// Whether a handler for a type (null: for all) catches ([except.handle]/3); it is told what it gets.
extern "C" __attribute__((used)) bool __porf_catches(Flight *flight, const std::type_info *wanted) {
    const std::type_info *type = flight->thrown->type;
    void *object = flight->thrown->object();
    if (typeid(*type) == typeid(__pointer_type_info))
        object = *static_cast<void **>(object);
    if (wanted && type != wanted) {
        if (typeid(*type) == typeid(__pointer_type_info) && typeid(*wanted) == typeid(__pointer_type_info)) {
            auto *from = static_cast<const __pbase_type_info *>(type);
            auto *to = static_cast<const __pbase_type_info *>(wanted);
            const bool to_void = *to->__pointee == typeid(void);
            if ((from->__flags & ~to->__flags & 7) || !(to_void || converts(from->__pointee, to->__pointee, object)))
                return false;
        } else if (*type == typeid(std::nullptr_t) && typeid(*wanted) == typeid(__pointer_type_info)) {
            object = nullptr;
        } else if (!converts(type, wanted, object)) {
            return false;
        }
    }
    flight->adjusted = object;
    return true;
}

extern "C" {

void *__cxa_allocate_exception(std::size_t size) noexcept {
    return static_cast<Thrown *>(std::malloc(sizeof(Thrown) + size))->object();
}

void __cxa_free_exception(void *object) noexcept { std::free(Thrown::of(object)); }

void __cxa_throw(void *object, std::type_info *type, void (*destroy)(void *)) {
    Thrown *thrown = Thrown::of(object);
    thrown->type = type;
    thrown->destroy = destroy;
    thrown->references = 1;
    fly(thrown);
}

abi::__cxa_refcounted_exception *__cxa_init_primary_exception(void *object, std::type_info *type,
                                                              void (*destroy)(void *)) noexcept {
    Thrown *thrown = Thrown::of(object);
    thrown->type = type;
    thrown->destroy = destroy;
    thrown->references = 0;
    return reinterpret_cast<abi::__cxa_refcounted_exception *>(thrown);
}

void *__cxa_get_exception_ptr(void *flight) noexcept { return static_cast<Flight *>(flight)->adjusted; }

void *__cxa_begin_catch(void *exception) noexcept {
    Flight *flight = static_cast<Flight *>(exception);
    flight->again = false;
    flight->handlers++;
    uncaught--;
    if (caught != flight) {
        flight->below = caught;
        caught = flight;
    }
    return flight->adjusted;
}

void __cxa_end_catch() {
    Flight *flight = caught;
    if (!flight)
        return;
    flight->handlers--;
    if (flight->handlers > 0)
        return;
    caught = flight->below;
    // One that is thrown again flies on.
    if (flight->again)
        return;
    Thrown *thrown = flight->thrown;
    std::free(flight);
    drop(thrown);
}

void __cxa_rethrow() {
    if (!caught)
        std::terminate();
    caught->again = true;
    uncaught++;
    __porf_unwind(caught);
}

// The parts of an exception_ptr, for a library that has another type of that name.
void __porf_keep_exception(void *object) noexcept {
    if (object)
        keep(Thrown::of(object));
}

void __porf_drop_exception(void *object) noexcept {
    if (object)
        drop(Thrown::of(object));
}

void __porf_throw_again(void *object) { fly(Thrown::of(object)); }

std::type_info *__cxa_current_exception_type() { return caught ? caught->thrown->type : nullptr; }

void __cxa_call_unexpected(void *) { std::terminate(); }
void __cxa_bad_cast() { throw std::bad_cast(); }
void __cxa_bad_typeid() { throw std::bad_typeid(); }
void __cxa_throw_bad_array_new_length() { throw std::bad_array_new_length(); }

// [expr.dynamic.cast]/8: down from the object that is known to the one that contains it, or across within the whole.
void *__dynamic_cast(const void *object, const __class_type_info *from, const __class_type_info *to, std::ptrdiff_t) {
    const void *table = *static_cast<const void *const *>(object);
    const char *whole = static_cast<const char *>(object) + static_cast<const std::ptrdiff_t *>(table)[-2];
    const std::type_info *type = static_cast<const std::type_info *const *>(table)[-1];
    Search all{to, true, {}, 0};
    all.look(type, whole);
    const char *down = nullptr;
    int downs = 0;
    for (int i = 0; i < all.count; i++) {
        Search bases{from, false, {}, 0};
        bases.look(to, all.found[i]);
        for (int k = 0; k < bases.count; k++)
            if (bases.found[k] == object) {
                down = all.found[i];
                downs++;
            }
    }
    if (downs == 1)
        return const_cast<char *>(down);
    Search own{from, false, {}, 0}, across{to, false, {}, 0};
    own.look(type, whole);
    across.look(type, whole);
    bool is_public = false;
    for (int i = 0; i < own.count; i++)
        is_public |= own.found[i] == object;
    return is_public && across.count == 1 && downs == 0 ? const_cast<char *>(across.found[0]) : nullptr;
}

bool _ZNKSt9type_infoeqERKS_(const std::type_info *a, const std::type_info *b) { return a == b; }

} // extern "C"

// The descriptions of types: of the fundamental ones where their class has its first virtual function.
namespace __cxxabiv1 {
__fundamental_type_info::~__fundamental_type_info() {}
__array_type_info::~__array_type_info() {}
__function_type_info::~__function_type_info() {}
__enum_type_info::~__enum_type_info() {}
__pbase_type_info::~__pbase_type_info() {}
__pointer_type_info::~__pointer_type_info() {}
__pointer_to_member_type_info::~__pointer_to_member_type_info() {}
__class_type_info::~__class_type_info() {}
__si_class_type_info::~__si_class_type_info() {}
__vmi_class_type_info::~__vmi_class_type_info() {}
// Nobody throws these; handlers name them.
__forced_unwind::~__forced_unwind() noexcept {}
__foreign_exception::~__foreign_exception() noexcept {}
} // namespace __cxxabiv1

namespace std {

type_info::~type_info() {}

bool uncaught_exception() noexcept { return uncaught > 0; }
int uncaught_exceptions() noexcept { return uncaught; }

namespace __exception_ptr {
// What it points to is the object that was thrown.
exception_ptr::exception_ptr(void *object) noexcept : _M_exception_object(object) { _M_addref(); }
void exception_ptr::_M_addref() noexcept { __porf_keep_exception(_M_exception_object); }
void exception_ptr::_M_release() noexcept {
    __porf_drop_exception(_M_exception_object);
    _M_exception_object = nullptr;
}
void *exception_ptr::_M_get() const noexcept { return _M_exception_object; }
const type_info *exception_ptr::__cxa_exception_type() const noexcept {
    return Thrown::of(_M_exception_object)->type;
}
} // namespace __exception_ptr

// The constructor that takes a pointer is private but for this function.
exception_ptr current_exception() noexcept {
    exception_ptr result;
    if (caught) {
        void *object = caught->thrown->object();
        keep(caught->thrown);
        memcpy(static_cast<void *>(&result), &object, sizeof object);
    }
    return result;
}

void rethrow_exception(exception_ptr pointer) {
    void *object;
    memcpy(&object, static_cast<void *>(&pointer), sizeof object);
    keep(Thrown::of(object));
    // What unwinding would do: the parameter is in no scope that has a landing pad.
    pointer = nullptr;
    fly(Thrown::of(object));
}

exception::~exception() noexcept {}
const char *exception::what() const noexcept { return "std::exception"; }
bad_exception::~bad_exception() noexcept {}
const char *bad_exception::what() const noexcept { return "std::bad_exception"; }
bad_alloc::~bad_alloc() noexcept {}
const char *bad_alloc::what() const noexcept { return "std::bad_alloc"; }
bad_array_new_length::~bad_array_new_length() noexcept {}
const char *bad_array_new_length::what() const noexcept { return "std::bad_array_new_length"; }
bad_cast::~bad_cast() noexcept {}
const char *bad_cast::what() const noexcept { return "std::bad_cast"; }
bad_typeid::~bad_typeid() noexcept {}
const char *bad_typeid::what() const noexcept { return "std::bad_typeid"; }
bad_function_call::~bad_function_call() noexcept {}
const char *bad_function_call::what() const noexcept { return "bad_function_call"; }
bad_weak_ptr::~bad_weak_ptr() noexcept {}
const char *bad_weak_ptr::what() const noexcept { return "bad_weak_ptr"; }
nested_exception::~nested_exception() noexcept {}

// A copy of the text, without counting: each exception has its own.
static const char *copy(const char *text, size_t length) {
    char *own = static_cast<char *>(malloc(length + 1));
    memcpy(own, text, length);
    own[length] = 0;
    return own;
}
__cow_string::__cow_string() : _M_p(copy("", 0)) {}
__cow_string::__cow_string(const string &text) : _M_p(copy(text.data(), text.size())) {}
__cow_string::__cow_string(const char *text, size_t length) : _M_p(copy(text, length)) {}
__cow_string::__cow_string(const __cow_string &other) noexcept : _M_p(copy(other._M_p, strlen(other._M_p))) {}
__cow_string &__cow_string::operator=(const __cow_string &other) noexcept {
    if (this != &other) {
        free(const_cast<char *>(_M_p));
        _M_p = copy(other._M_p, strlen(other._M_p));
    }
    return *this;
}
__cow_string::__cow_string(__cow_string &&other) noexcept : _M_p(copy(other._M_p, strlen(other._M_p))) {}
__cow_string &__cow_string::operator=(__cow_string &&other) noexcept {
    return *this = static_cast<const __cow_string &>(other);
}
__cow_string::~__cow_string() { free(const_cast<char *>(_M_p)); }

// The text is the first word of a `__cow_string`.
#define TEXT(message) (*reinterpret_cast<const char *const *>(&message))

#define ROOT(name)                                                                                                    \
    name::name(const string &text) : exception(), _M_msg(text) {}                                                     \
    name::name(const char *text) : exception(), _M_msg(text, strlen(text)) {}                                         \
    name::name(const name &other) noexcept : exception(), _M_msg(other._M_msg) {}                                     \
    name &name::operator=(const name &other) noexcept {                                                               \
        _M_msg = other._M_msg;                                                                                        \
        return *this;                                                                                                 \
    }                                                                                                                 \
    name::name(name &&other) noexcept : exception(), _M_msg(other._M_msg) {}                                          \
    name &name::operator=(name &&other) noexcept {                                                                    \
        _M_msg = other._M_msg;                                                                                        \
        return *this;                                                                                                 \
    }                                                                                                                 \
    name::~name() noexcept {}                                                                                         \
    const char *name::what() const noexcept { return TEXT(_M_msg); }
ROOT(logic_error)
ROOT(runtime_error)

#define BELOW(name, base)                                                                                             \
    name::name(const string &text) : base(text) {}                                                                    \
    name::name(const char *text) : base(text) {}                                                                      \
    name::~name() noexcept {}
BELOW(domain_error, logic_error)
BELOW(invalid_argument, logic_error)
BELOW(length_error, logic_error)
BELOW(out_of_range, logic_error)
BELOW(range_error, runtime_error)
BELOW(overflow_error, runtime_error)
BELOW(underflow_error, runtime_error)

system_error::~system_error() noexcept {}
future_error::~future_error() noexcept {}
const char *future_error::what() const noexcept { return logic_error::what(); }

inline namespace _V2 {
error_category::~error_category() noexcept {}
error_condition error_category::default_error_condition(int code) const noexcept { return {code, *this}; }
bool error_category::equivalent(int code, const error_condition &condition) const noexcept {
    return default_error_condition(code) == condition;
}
bool error_category::equivalent(const error_code &code, int condition) const noexcept {
    return *this == code.category() && code.value() == condition;
}
__cow_string error_category::_M_message(int) const { return __cow_string("an error", 8); }
} // namespace _V2

namespace {
struct Category final : error_category {
    const char *text;
    constexpr Category(const char *text) : text(text) {}
    const char *name() const noexcept override { return text; }
    string message(int) const override { return text; }
};
[[clang::no_destroy]] constinit const Category generic("generic"), its_system("system"), its_future("future");
} // namespace

inline namespace _V2 {
const error_category &generic_category() noexcept { return generic; }
const error_category &system_category() noexcept { return its_system; }
} // namespace _V2
const error_category &future_category() noexcept { return its_future; }
error_condition error_code::default_error_condition() const noexcept {
    return category().default_error_condition(value());
}

void __throw_bad_exception() { throw bad_exception(); }
void __throw_bad_alloc() { throw bad_alloc(); }
void __throw_bad_array_new_length() { throw bad_array_new_length(); }
void __throw_bad_cast() { throw bad_cast(); }
void __throw_bad_typeid() { throw bad_typeid(); }
void __throw_bad_function_call() { throw bad_function_call(); }
void __throw_logic_error(const char *text) { throw logic_error(text); }
void __throw_domain_error(const char *text) { throw domain_error(text); }
void __throw_invalid_argument(const char *text) { throw invalid_argument(text); }
void __throw_length_error(const char *text) { throw length_error(text); }
void __throw_out_of_range(const char *text) { throw out_of_range(text); }
void __throw_out_of_range_fmt(const char *format, ...) { throw out_of_range(format); }
void __throw_runtime_error(const char *text) { throw runtime_error(text); }
void __throw_range_error(const char *text) { throw range_error(text); }
void __throw_overflow_error(const char *text) { throw overflow_error(text); }
void __throw_underflow_error(const char *text) { throw underflow_error(text); }
void __throw_system_error(int code) { throw system_error(error_code(code, generic)); }
void __throw_future_error(int code) { throw future_error(make_error_code(future_errc(code))); }

} // namespace std
