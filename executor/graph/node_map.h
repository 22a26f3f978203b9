#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "executor/graph/tensor.h"

namespace slipway {

/// Values by node, for walks over whole graphs: one block of memory with open addressing, where
/// std::unordered_map allocates for each node. Nothing is removed; what was returned is valid until
/// the next insertion. Somebody else keeps the nodes alive: an address is all that is kept here.
template <class Value>
class NodeMap {
public:
    NodeMap() : slots_(64) {}

    /// True when the node was not there; else its value stays.
    bool insert(const Node* node, Value value) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slot_of(node);
        if (slot.node != nullptr) return false;
        slot = {node, std::move(value)};
        ++size_;
        return true;
    }
    const Value* find(const Node* node) const {
        const Slot& slot = const_cast<NodeMap*>(this)->slot_of(node);
        return slot.node != nullptr ? &slot.value : nullptr;
    }
    bool contains(const Node* node) const { return find(node) != nullptr; }
    const Value& at(const Node* node) const {
        const Value* const value = find(node);
        check(value != nullptr, "the node was visited before");
        return *value;
    }
    std::size_t size() const { return size_; }

private:
    struct Slot {
        const Node* node = nullptr;
        Value value{};
    };

    /// The node's, or the free one where it would go.
    Slot& slot_of(const Node* node) {
        // Addresses are multiples of 16; the golden ratio spreads them over the high bits.
        const std::uint64_t spread =
            (reinterpret_cast<std::uintptr_t>(node) >> 4) * 0x9E3779B97F4A7C15U;
        std::size_t at = std::size_t(spread >> 32) & (slots_.size() - 1);
        while (slots_[at].node != nullptr && slots_[at].node != node)
            at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }

    void grow() {
        std::vector<Slot> old(4 * slots_.size());
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.node != nullptr) slot_of(slot.node) = std::move(slot);
    }

    std::vector<Slot> slots_;    ///< a power of two, at most half of them taken
    std::size_t size_ = 0;
};

/// Nodes, as a map to nothing.
struct Nothing {};
using NodeSet = NodeMap<Nothing>;

}    // namespace slipway
