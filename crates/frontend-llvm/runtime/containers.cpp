// defines: _ZNSt8__detail15_List_node_base* _ZNKSt8__detail20_Prime_rehash_policy* _ZSt18_Rb_tree_increment*
// defines: _ZSt18_Rb_tree_decrement* _ZSt29_Rb_tree_insert_and_rebalance* _ZSt28_Rb_tree_rebalance_for_erase*
// defines: _ZSt11_Hash_bytes* _ZSt15_Fnv_hash_bytes*
// What libstdc++ keeps outside its headers for std::list, std::map and std::set, the unordered containers
// and std::hash. Written for this purpose: trees are not balanced, so that a verification has fewer steps.
#include <cstddef>
#include <list>
#include <map>
#include <unordered_map>

namespace std {
namespace __detail {

void _List_node_base::_M_hook(_List_node_base *next) noexcept {
    _M_next = next;
    _M_prev = next->_M_prev;
    next->_M_prev->_M_next = this;
    next->_M_prev = this;
}

void _List_node_base::_M_unhook() noexcept {
    _M_prev->_M_next = _M_next;
    _M_next->_M_prev = _M_prev;
}

void _List_node_base::_M_transfer(_List_node_base *first, _List_node_base *last) noexcept {
    if (this == last || first == last)
        return;
    _List_node_base *end = last->_M_prev;
    first->_M_prev->_M_next = last;
    last->_M_prev = first->_M_prev;
    first->_M_prev = _M_prev;
    end->_M_next = this;
    _M_prev->_M_next = first;
    _M_prev = end;
}

void _List_node_base::_M_reverse() noexcept {
    _List_node_base *node = this;
    do {
        _List_node_base *next = node->_M_next;
        node->_M_next = node->_M_prev;
        node->_M_prev = next;
        node = next;
    } while (node != this);
}

void _List_node_base::swap(_List_node_base &a, _List_node_base &b) noexcept {
    const bool a_empty = a._M_next == &a, b_empty = b._M_next == &b;
    _List_node_base old_a = a, old_b = b;
    if (b_empty) {
        a._M_next = a._M_prev = &a;
    } else {
        a = old_b;
        a._M_next->_M_prev = a._M_prev->_M_next = &a;
    }
    if (a_empty) {
        b._M_next = b._M_prev = &b;
    } else {
        b = old_a;
        b._M_next->_M_prev = b._M_prev->_M_next = &b;
    }
}

size_t _Prime_rehash_policy::_M_next_bkt(size_t wanted) const {
    static const size_t primes[] = {2, 5, 11, 23, 47, 97, 199, 409, 823, 1741, 3469, 6949, 14033};
    for (size_t prime : primes)
        if (prime >= wanted) {
            _M_next_resize = static_cast<size_t>(prime * static_cast<double>(_M_max_load_factor));
            return prime;
        }
    return wanted | 1;
}

pair<bool, size_t> _Prime_rehash_policy::_M_need_rehash(size_t buckets, size_t elements, size_t more) const {
    if (elements + more <= _M_next_resize)
        return {false, 0};
    const double least = (elements + more) / static_cast<double>(_M_max_load_factor);
    if (least < buckets) {
        _M_next_resize = static_cast<size_t>(buckets * static_cast<double>(_M_max_load_factor));
        return {false, 0};
    }
    const size_t enough = static_cast<size_t>(least) + 1;
    return {true, _M_next_bkt(enough > 2 * buckets ? enough : 2 * buckets)};
}

} // namespace __detail

using Node = _Rb_tree_node_base;

// The header's parent is the root, its left the first node, its right the last.
Node *_Rb_tree_increment(Node *node) throw() {
    if (node->_M_right) {
        node = node->_M_right;
        while (node->_M_left)
            node = node->_M_left;
        return node;
    }
    Node *up = node->_M_parent;
    while (node == up->_M_right) {
        node = up;
        up = up->_M_parent;
    }
    // From the last node of a tree whose root has nothing on the right, the walk ends in the header.
    return node->_M_right == up ? node : up;
}

const Node *_Rb_tree_increment(const Node *node) throw() { return _Rb_tree_increment(const_cast<Node *>(node)); }

Node *_Rb_tree_decrement(Node *node) throw() {
    // Only the header is red and its grandparent's child.
    if (node->_M_color == _S_red && node->_M_parent && node->_M_parent->_M_parent == node)
        return node->_M_right;
    if (node->_M_left) {
        node = node->_M_left;
        while (node->_M_right)
            node = node->_M_right;
        return node;
    }
    Node *up = node->_M_parent;
    while (node == up->_M_left) {
        node = up;
        up = up->_M_parent;
    }
    return up;
}

const Node *_Rb_tree_decrement(const Node *node) throw() { return _Rb_tree_decrement(const_cast<Node *>(node)); }

void _Rb_tree_insert_and_rebalance(const bool left, Node *node, Node *parent, Node &header) throw() {
    node->_M_parent = parent;
    node->_M_left = node->_M_right = nullptr;
    node->_M_color = _S_black;
    if (left) {
        parent->_M_left = node;
        if (parent == &header) {
            header._M_parent = header._M_right = node;
        } else if (parent == header._M_left) {
            header._M_left = node;
        }
    } else {
        parent->_M_right = node;
        if (parent == header._M_right)
            header._M_right = node;
    }
}

static void replace(Node *node, Node *by, Node &header) {
    if (header._M_parent == node)
        header._M_parent = by;
    else if (node->_M_parent->_M_left == node)
        node->_M_parent->_M_left = by;
    else
        node->_M_parent->_M_right = by;
    if (by)
        by->_M_parent = node->_M_parent;
}

Node *_Rb_tree_rebalance_for_erase(Node *const node, Node &header) throw() {
    if (header._M_left == node)
        header._M_left = node->_M_right || node->_M_parent != &header ? _Rb_tree_increment(node) : &header;
    if (header._M_right == node)
        header._M_right = node->_M_left || node->_M_parent != &header ? _Rb_tree_decrement(node) : &header;
    if (!node->_M_left) {
        replace(node, node->_M_right, header);
    } else if (!node->_M_right) {
        replace(node, node->_M_left, header);
    } else {
        Node *next = node->_M_right;
        while (next->_M_left)
            next = next->_M_left;
        if (next->_M_parent != node) {
            replace(next, next->_M_right, header);
            next->_M_right = node->_M_right;
            next->_M_right->_M_parent = next;
        }
        replace(node, next, header);
        next->_M_left = node->_M_left;
        next->_M_left->_M_parent = next;
    }
    return node;
}

size_t _Hash_bytes(const void *bytes, size_t length, size_t seed) {
    const unsigned char *at = static_cast<const unsigned char *>(bytes);
    size_t hash = seed ^ length;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

size_t _Fnv_hash_bytes(const void *bytes, size_t length, size_t seed) { return _Hash_bytes(bytes, length, seed); }

} // namespace std
