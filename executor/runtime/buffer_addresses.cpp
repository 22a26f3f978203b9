#include "executor/runtime/buffer_addresses.h"

#include <cstdint>
#include <vector>

namespace slipway {

namespace {

/// In whole lines of the cache, as buffers are placed.
std::int64_t in_lines(std::int64_t bytes) {
    constexpr std::int64_t line_bytes = 64;
    return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

std::byte* bound(const std::vector<std::byte*>& addresses, std::size_t core) {
    return addresses.size() == 1 ? addresses.front() : addresses[core];
}

/// A core's copy of a buffer in an arena that holds those of all `together` cores of its block.
std::byte* replica_in(const Arena& arena, const Buffer& buffer, std::size_t core, int together) {
    if (together == 1) return arena.data() + buffer.offset;
    const std::int64_t stride = buffer.is_in_turn ? 0 : in_lines(buffer.shape.byte_count());
    return arena.data() + buffer.offset * together +
           std::int64_t(core % std::size_t(together)) * stride;
}

}    // namespace

std::byte* BufferAddresses::of(const Buffer& buffer, std::size_t core) const {
    const int together = program.replicas_together;
    switch (buffer.region) {
        case Region::input:
            return bound(bindings.inputs[buffer.position], core);
        case Region::output:
            return bound(bindings.outputs[buffer.position], core);
        case Region::constant:
            // Constants are never written: find_problems refuses a program that does.
            return const_cast<std::byte*>(program.constants.bytes()) + buffer.offset;
        case Region::worker:
            return replica_in(memory.worker[std::size_t(worker)], buffer, core, together);
        case Region::core:
            return replica_in(memory.core[core / std::size_t(together)], buffer, core, together);
        case Region::shared:
            return memory.shared.data() + buffer.offset;
        case Region::sum:
            return memory.roots.front().data() + buffer.offset;
    }
    return nullptr;
}

void BufferAddresses::all_of(std::size_t core, std::span<std::byte*> addresses) const {
    for (std::size_t i = 0; i < addresses.size(); ++i)
        addresses[i] = of(program.buffers[i], core);
}

std::byte* BufferAddresses::partial(const Sum& sum, std::size_t block, int index) const {
    const Buffer& buffer = program.buffers[sum.buffer];
    if (index == 0) return memory.roots[block].data() + buffer.offset;
    if (sum.waiting) {
        const auto first = std::size_t(plan.blocks[block].first);
        return of(program.buffers[*sum.waiting], first) +
               (index - 1) * in_lines(buffer.shape.byte_count());
    }
    const Arena& arena = memory.partials[std::size_t(worker)][std::size_t(index - 1)];
    return arena.data() + buffer.offset;
}

}    // namespace slipway
