// defines: _ZNSt3pmr20get_default_resourceEv _ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE
// defines: _ZNSt3pmr19new_delete_resourceEv _ZNSt3pmr20null_memory_resourceEv _ZNSt3pmr15memory_resource*
// defines: _ZNSt3pmr25monotonic_buffer_resource* _ZTVNSt3pmr25monotonic_buffer_resourceE _ZTINSt3pmr15memory_resourceE
// defines: _ZTVNSt3pmr15memory_resourceE
// What libstdc++ keeps outside its headers for std::pmr. The pools of the library are not here.
#include <atomic>
#include <memory_resource>
#include <new>

namespace std::pmr {

memory_resource::~memory_resource() = default;

namespace {
struct Heap final : memory_resource {
    void *do_allocate(size_t size, size_t align) override { return ::operator new(size, align_val_t(align)); }
    void do_deallocate(void *block, size_t, size_t align) override {
        ::operator delete(block, align_val_t(align));
    }
    bool do_is_equal(const memory_resource &other) const noexcept override { return &other == this; }
};
struct Nothing final : memory_resource {
    void *do_allocate(size_t, size_t) override { throw bad_alloc(); }
    void do_deallocate(void *, size_t, size_t) noexcept override {}
    bool do_is_equal(const memory_resource &other) const noexcept override { return &other == this; }
};
[[clang::no_destroy]] constinit Heap heap;
[[clang::no_destroy]] constinit Nothing none;
constinit atomic<memory_resource *> standard{&heap};
} // namespace

memory_resource *new_delete_resource() noexcept { return &heap; }
memory_resource *null_memory_resource() noexcept { return &none; }
memory_resource *get_default_resource() noexcept { return standard.load(memory_order_acquire); }
memory_resource *set_default_resource(memory_resource *resource) noexcept {
    return standard.exchange(resource ? resource : &heap, memory_order_acq_rel);
}

// A buffer from the resource below, with a link to the one before it behind its end.
class monotonic_buffer_resource::_Chunk {
  public:
    _Chunk *before;
    size_t size, align;
};

monotonic_buffer_resource::~monotonic_buffer_resource() { release(); }

void monotonic_buffer_resource::_M_new_buffer(size_t bytes, size_t alignment) {
    const size_t size = (bytes > _M_next_bufsiz ? bytes : _M_next_bufsiz) + 15 & ~size_t(15);
    const size_t align = alignment > alignof(max_align_t) ? alignment : alignof(max_align_t);
    char *block = static_cast<char *>(_M_upstream->allocate(size + sizeof(_Chunk), align));
    _M_head = new (block + size) _Chunk{_M_head, size, align};
    _M_current_buf = block;
    _M_avail = size;
    _M_next_bufsiz *= 2;
}

void monotonic_buffer_resource::_M_release_buffers() noexcept {
    while (_Chunk *chunk = _M_head) {
        _M_head = chunk->before;
        const size_t size = chunk->size, align = chunk->align;
        _M_upstream->deallocate(reinterpret_cast<char *>(chunk) - size, size + sizeof(_Chunk), align);
    }
}

} // namespace std::pmr
