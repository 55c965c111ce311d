// A ring buffer for one producer and one consumer.
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

template <class T, unsigned Size> class Ring {
    std::array<T, Size> items{};
    std::atomic<unsigned> head{0}, tail{0};

  public:
    void put(T item) {
        unsigned t = tail.load(std::memory_order_relaxed);
        while (t - head.load(std::memory_order_acquire) == Size) {
        }
        items[t % Size] = item;
#ifdef BUG_RELAXED
        tail.store(t + 1, std::memory_order_relaxed);
#else
        tail.store(t + 1, std::memory_order_release);
#endif
    }
    T get() {
        unsigned h = head.load(std::memory_order_relaxed);
        while (tail.load(std::memory_order_acquire) == h) {
        }
        T item = items[h % Size];
        head.store(h + 1, std::memory_order_release);
        return item;
    }
};

static Ring<int, 2> ring;

int main() {
    std::thread producer([] {
        for (int i = 1; i <= 2; i++) ring.put(i);
    });
    for (int i = 1; i <= 2; i++) {
        int item = ring.get();
        assert(item == i);
    }
    producer.join();
}
