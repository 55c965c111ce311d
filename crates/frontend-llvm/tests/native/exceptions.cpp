// Exceptions, casts and what libstdc++ keeps outside its headers.
#include <any>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
#include <vector>

struct Noisy {
    int number;
    ~Noisy() { std::printf("~%d(%d) ", number, std::uncaught_exceptions()); }
};
struct A {
    virtual ~A() {}
    int a = 1;
};
struct B : A {
    int b = 2;
};
struct C {
    virtual ~C() {}
    int c = 3;
};
struct D : B, C {
    int d = 4;
};
struct V1 : virtual A {};
struct V2 : virtual A {};
struct W : V1, V2 {};
class Hidden : A {};

static void thrower(int what) {
    Noisy one{1};
    switch (what) {
    case 0:
        throw 7;
    case 1:
        throw std::out_of_range("index");
    case 2:
        throw D();
    case 3: {
        static B b;
        throw static_cast<B *>(&b);
    }
    case 4:
        throw "text";
    case 5:
        throw std::string("a string that is too long to be kept in place");
    case 6:
        throw W();
    case 7:
        throw nullptr;
    }
}

static void between(int what) {
    Noisy two{2};
    try {
        Noisy three{3};
        thrower(what);
    } catch (const std::length_error &) {
        std::printf("wrong ");
    } catch (char) {
        std::printf("wrong ");
    }
}

static void catching(int what) {
    try {
        between(what);
        std::printf("nothing");
    } catch (int number) {
        std::printf("int %d", number);
    } catch (const std::logic_error &error) {
        std::printf("logic %s", error.what());
    } catch (C &c) {
        std::printf("C %d", c.c);
    } catch (const A *a) {
        std::printf("A* %d", a ? a->a : 0);
    } catch (const char *text) {
        std::printf("text %s", text);
    } catch (std::string text) {
        std::printf("string %s", text.c_str());
    } catch (A &a) {
        std::printf("A %d", a.a);
    } catch (...) {
        std::printf("other");
    }
    std::printf("\n");
}

static void again() {
    try {
        try {
            throw std::runtime_error("first");
        } catch (std::exception &) {
            Noisy in_handler{9};
            throw;
        }
    } catch (std::runtime_error &error) {
        std::printf("again %s\n", error.what());
    }
    try {
        try {
            throw 1;
        } catch (int) {
            throw 2.5;
        }
    } catch (double value) {
        std::printf("%g\n", value);
    }
    std::exception_ptr kept;
    try {
        throw std::invalid_argument("kept");
    } catch (...) {
        kept = std::current_exception();
    }
    for (int i = 0; i < 2; i++)
        try {
            std::rethrow_exception(kept);
        } catch (const std::invalid_argument &error) {
            std::printf("%s %d\n", error.what(), std::current_exception() == kept);
        }
    try {
        struct Member {
            Noisy first{4};
            Member() { throw 'c'; }
        } member;
    } catch (char c) {
        std::printf("%c\n", c);
    }
}

static void library() {
    std::vector<int> v(3);
    try {
        v.at(3) = 1;
    } catch (std::out_of_range &) {
        std::printf("at ");
    }
    try {
        std::function<void()>()();
    } catch (std::bad_function_call &) {
        std::printf("call ");
    }
    try {
        std::variant<int, char> choice = 1;
        std::get<char>(choice);
    } catch (std::bad_variant_access &) {
        std::printf("variant ");
    }
    try {
        std::optional<int>().value();
    } catch (std::bad_optional_access &) {
        std::printf("optional ");
    }
    try {
        std::any_cast<char>(std::any(1));
    } catch (std::bad_any_cast &) {
        std::printf("any ");
    }
    try {
        std::shared_ptr<int>(std::weak_ptr<int>());
    } catch (std::bad_weak_ptr &) {
        std::printf("weak ");
    }
    try {
        std::stoi("x");
    } catch (std::invalid_argument &) {
        std::printf("stoi ");
    }
    try {
        std::promise<int> promise;
        promise.set_exception(std::make_exception_ptr(5));
        promise.get_future().get();
    } catch (int value) {
        std::printf("promise %d ", value);
    }
    try {
        throw std::system_error(std::make_error_code(std::errc::device_or_resource_busy), "what");
    } catch (std::system_error &error) {
        std::printf("%d\n", error.code() == std::errc::device_or_resource_busy);
    }
    std::string text = "hello";
    text += " world, and more of it than fits";
    text.insert(5, ",").replace(0, 1, "J").erase(10);
    std::printf("%s %zu %s %d\n", text.c_str(), text.find("lo"), std::to_string(-42).c_str(), std::stoi("17") + 1);
    std::map<std::string, int> names{{"b", 2}, {"a", 1}};
    for (auto &[name, value] : names)
        std::printf("%s%d ", name.c_str(), value);
    char buffer[64];
    std::pmr::monotonic_buffer_resource pool(buffer, sizeof buffer);
    std::pmr::vector<long> longs(&pool);
    for (long i = 0; i < 20; i++)
        longs.push_back(i);
    std::printf("%ld %d\n", longs[19], std::pmr::get_default_resource() == std::pmr::new_delete_resource());
}

static void casts() {
    D d;
    A *a = &d;
    C *c = &d;
    W w;
    A *v = &w;
    B b;
    A *plain = &b;
    std::printf("%d %d %d %d\n", dynamic_cast<C *>(a) == c, dynamic_cast<D *>(c) == &d, dynamic_cast<B *>(c) == &d,
                dynamic_cast<D *>(plain) == nullptr);
    std::printf("%d %d %d\n", dynamic_cast<W *>(v) == &w, dynamic_cast<V2 *>(v) == &w, dynamic_cast<void *>(c) == &d);
    std::printf("%d %d\n", typeid(*a) == typeid(D), typeid(*plain) == typeid(A));
    try {
        (void)dynamic_cast<D &>(*plain);
    } catch (std::bad_cast &) {
        std::printf("bad cast\n");
    }
}

int main() {
    for (int what = 0; what < 9; what++)
        catching(what);
    again();
    library();
    casts();
}
