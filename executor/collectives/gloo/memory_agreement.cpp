// Whether members are on one machine cannot be told from addresses or names: hosts may be virtual,
// and addresses those of a container. So each writes a number that nobody can guess into the
// memory, tells all others by TCP, and looks whether theirs are where they must be. What one of
// them does not find, none uses: all must take the same way.
#include "executor/collectives/gloo/memory_agreement.h"

#include <algorithm>
#include <cstring>

#include "executor/collectives/gloo/proof.h"
#include "executor/collectives/shared_memory/shared_sums.h"

namespace slipway {

namespace {

constexpr const char* memory_phase = "the shared memory";

/// The same of every member, by rank; `mine` is that of this one.
template <class T>
std::vector<T> tell_all(Mesh& mesh, const T& mine) {
    std::vector<T> all(mesh.order().hosts.size(), mine);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const int rank : mesh.others()) {
        out.push_back({rank, std::as_bytes(std::span(&mine, 1))});
        in.push_back({rank, std::as_writable_bytes(std::span(&all[std::size_t(rank)], 1))});
    }
    mesh.exchange(memory_phase, out, in);
    return all;
}

/// Where a rank writes its number: SharedSums uses the memory after all have been read.
std::byte* place_of(const SharedMapping& mapping, std::size_t rank) {
    return mapping.bytes().data() + rank * sizeof(Challenge);
}

}    // namespace

SharedMapping agree_on_memory(Mesh& mesh) {
    const std::size_t count = mesh.order().hosts.size();
    SharedMapping mapping(mesh.order().shared_memory);
    bool finds_all = !mapping.empty() && SharedSums::fits(mapping.bytes(), int(count));
    const Challenge own = make_challenge();
    if (finds_all)
        std::memcpy(place_of(mapping, std::size_t(mesh.order().rank)), own.data(), own.size());
    const std::vector<Challenge> written = tell_all(mesh, own);
    for (std::size_t rank = 0; rank < count && finds_all; ++rank)
        finds_all = std::memcmp(place_of(mapping, rank), written[rank].data(), own.size()) == 0;
    const std::vector<std::uint8_t> found = tell_all(mesh, std::uint8_t(finds_all));
    return std::ranges::count(found, 0) == 0 ? std::move(mapping) : SharedMapping();
}

}    // namespace slipway
