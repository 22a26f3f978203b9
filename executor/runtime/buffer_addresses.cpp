#include "executor/runtime/buffer_addresses.h"

#include <cstdint>
#include <vector>

namespace slipway {

namespace {

std::byte* bound(const std::vector<std::byte*>& addresses, std::size_t core) {
    return addresses.size() == 1 ? addresses.front() : addresses[core];
}

}    // namespace

std::byte* BufferAddresses::of(BufferId id, std::size_t core) const {
    const Buffer& buffer = program.buffers[id];
    // A core's copy in an arena that holds those of all `together` cores of its block.
    const auto replica_in = [&](const Arena& arena, std::size_t index) {
        return arena.data() + buffer.offset * program.replicas_together +
               std::int64_t(index) * plan.replica_strides[id];
    };
    const auto number = std::uint32_t(core), together = std::uint32_t(program.replicas_together);
    switch (buffer.region) {
        case Region::input:
            return bound(bindings.inputs[buffer.position], core);
        case Region::output:
            return bound(bindings.outputs[buffer.position], core);
        case Region::constant:
            // Constants are never written: find_problems refuses a program that does.
            return const_cast<std::byte*>(program.constants.bytes()) + buffer.offset;
        case Region::worker:
            return replica_in(memory.worker[std::size_t(worker)], number % together);
        case Region::core:
            return replica_in(memory.core[number / together], number % together);
        case Region::shared:
            return memory.shared.data() + buffer.offset;
        case Region::sum:
            return memory.roots.front().data() + buffer.offset;
    }
    return nullptr;
}

void BufferAddresses::all_of(std::size_t core, std::span<std::byte*> addresses) const {
    for (std::size_t i = 0; i < addresses.size(); ++i)
        addresses[i] = of(BufferId(i), core);
}

std::byte* BufferAddresses::partial(const Sum& sum, std::size_t block, int index) const {
    const Buffer& buffer = program.buffers[sum.buffer];
    if (index == 0) return memory.roots[block].data() + buffer.offset;
    if (sum.waiting) {
        const auto first = std::size_t(plan.blocks[block].first);
        return of(*sum.waiting, first) + (index - 1) * bytes_in_lines(buffer);
    }
    const Arena& arena = memory.partials[std::size_t(worker)][std::size_t(index - 1)];
    return arena.data() + buffer.offset;
}

}    // namespace slipway
