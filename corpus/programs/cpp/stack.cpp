// Treiber's stack as a template; nodes are not freed.
#include <atomic>
#include <cassert>
#include <thread>

template <class T> class Stack {
    struct Node {
        T value;
        Node *next;
    };
    std::atomic<Node *> top{nullptr};

  public:
    void push(T value) {
        Node *node = new Node{value, top.load(std::memory_order_relaxed)};
#ifdef BUG_RELAXED
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_relaxed)) {
#else
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
#endif
        }
    }
    T pop(T none) {
        Node *node = top.load(std::memory_order_acquire);
        while (node && !top.compare_exchange_weak(node, node->next, std::memory_order_acquire)) {
        }
        return node ? node->value : none;
    }
};

static Stack<int> stack;

int main() {
    std::thread a([] { stack.push(1); }), b([] { stack.push(2); });
    int value = stack.pop(-1);
    a.join();
    b.join();
    assert(value == -1 || value == 1 || value == 2);
}
