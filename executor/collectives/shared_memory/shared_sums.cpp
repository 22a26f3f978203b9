// As over a network (gloo/gloo_member.cpp), each rank adds the pieces of one slice of the values in
// the order of the fixed tree, but nothing is sent: each writes its pieces of the others' slices
// into the memory, adds its own slice from where the others' pieces lie, leaves the sum there, and
// copies the sums of the others out. So each value is copied in once and out once by this process,
// where a socket has the kernel copy it twice in both directions, in calls and packets.
//
// The memory has two halves, which parts of the values take in turns: a member that has seen all
// others arrive with their pieces of a part knows that they have copied the sums of the part
// before, so it may write over them. That saves the third point at which all would meet. A part is
// a few megabytes: the pieces are still in the CPU's last cache when they are read. Few bytes are
// added by all, which saves the second point. The halves of an all_reduce take one point each, and
// a half of the memory: who has seen all others arrive knows as much.
#include "executor/collectives/shared_memory/shared_sums.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "executor/collectives/slices.h"
#include "executor/runtime/reduction_tree.h"
#include "executor/tensor/dtype.h"

namespace slipway {

namespace {

constexpr std::size_t whole_bytes_max = std::size_t{16} << 10;
/// Added and copied at once: a sum is copied while it is in the first cache.
constexpr std::int64_t block_elements = 2048;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t widest_element = sizeof(std::int64_t);
constexpr std::size_t rounding_bytes = std::size_t(line_alignment) * widest_element;

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

std::size_t head_bytes(int count) {
    return (Arrivals::bytes_of(count) + page_bytes - 1) / page_bytes * page_bytes;
}

/// Each half has a piece of each member for the slice of each.
std::size_t piece_bytes(std::size_t memory, int count) {
    const std::size_t pieces = 2 * std::size_t(count) * std::size_t(count);
    const std::size_t head = head_bytes(count);
    return memory < head ? 0 : (memory - head) / pieces / rounding_bytes * rounding_bytes;
}

/// `take` of so many bytes of each shard at a time.
template <class Take>
void for_each_part(std::span<const std::span<std::byte>> shards, std::size_t bytes_max, Take take) {
    const std::size_t longest = std::ranges::max(shards, {}, &std::span<std::byte>::size).size();
    std::vector<std::span<std::byte>> part(shards.size());
    for (std::size_t first = 0; first < longest; first += bytes_max) {
        std::ranges::transform(shards, part.begin(), [&](std::span<std::byte> shard) {
            const std::size_t begin = std::min(first, shard.size());
            return shard.subspan(begin, std::min(bytes_max, shard.size() - begin));
        });
        take(part);
    }
}

}    // namespace

bool SharedSums::fits(std::span<const std::byte> memory, int count) {
    const std::size_t piece = piece_bytes(memory.size(), count);
    return piece > rounding_bytes && piece * std::size_t(count) >= whole_bytes_max;
}

SharedSums::SharedSums(SharedMapping mapping, int rank, int count, std::chrono::nanoseconds limit,
                       MissingMembers missing_members)
    : mapping_(std::move(mapping)),
      rank_(rank),
      count_(count),
      piece_bytes_(piece_bytes(mapping_.bytes().size(), count)),
      part_bytes_max_((piece_bytes_ - rounding_bytes) * std::size_t(count)),
      arrivals_(mapping_.bytes().first(head_bytes(count)), rank, count, limit,
                std::move(missing_members)) {}

std::int64_t SharedSums::member_bytes() const {
    return std::int64_t(mapping_.bytes().size()) / count_;
}

/// Of the half of this part: what `from` has of the slice of `of_slice`. The sum of the slice comes
/// to lie in the piece of rank 0.
std::span<std::byte> SharedSums::piece(int of_slice, int from) const {
    const auto ranks = std::size_t(count_);
    const std::size_t number =
        ((parts_ % 2) * ranks + std::size_t(of_slice)) * ranks + std::size_t(from);
    return mapping_.bytes().subspan(head_bytes(count_) + number * piece_bytes_, piece_bytes_);
}

void SharedSums::all_reduce(Combine how, DType dtype, std::span<std::byte> values) {
    if (values.size() <= whole_bytes_max) return reduce_whole(how, dtype, values);
    while (!values.empty()) {
        const std::span part = values.first(std::min(values.size(), part_bytes_max_));
        reduce_slices(how, dtype, part);
        values = values.subspan(part.size());
    }
}

/// The pieces of one rank's slice lie side by side: the values of a rank take the place of all of
/// them. Adding uses roots up, and all members read these.
void SharedSums::reduce_whole(Combine how, DType dtype, std::span<std::byte> values) {
    const auto ranks = std::size_t(count_);
    copy(values, {piece(rank_, 0).data(), values.size()});
    arrivals_.arrive();
    scratch_.resize(values.size() * ranks);
    std::vector<std::byte*> roots;
    for (int each = 0; each < count_; ++each) {
        if (each != rank_) arrivals_.wait_for(each);
        roots.push_back(scratch_.data() + std::size_t(each) * values.size());
        copy({piece(each, 0).data(), values.size()}, {roots.back(), values.size()});
    }
    combine_roots({0, how}, dtype, roots, 0, std::int64_t(values.size() / size_in_bytes(dtype)));
    copy({roots[0], values.size()}, values);
    ++parts_;
}

void SharedSums::reduce_slices(Combine how, DType dtype, std::span<std::byte> values) {
    const auto slice = [&](int of) {
        return slice_of(values, size_in_bytes(dtype), std::size_t(of), std::size_t(count_));
    };
    for (int other = 0; other < count_; ++other)
        if (other != rank_) copy(slice(other), piece(other, rank_));
    arrivals_.arrive();
    arrivals_.wait_for_all();
    add_own_slice(how, dtype, slice(rank_), true);
    arrivals_.arrive();
    for (int other = 0; other < count_; ++other) {
        if (other == rank_) continue;
        arrivals_.wait_for(other);
        const std::span<std::byte> sums = slice(other);
        copy(piece(other, 0).first(sums.size()), sums);
    }
    ++parts_;
}

/// The sum is in `own`; for the others also in the memory.
void SharedSums::add_own_slice(Combine how, DType dtype, std::span<std::byte> own,
                               bool others_read) {
    const std::size_t size = size_in_bytes(dtype);
    std::vector<std::byte*> roots;
    for (int from = 0; from < count_; ++from)
        roots.push_back(from == rank_ ? own.data() : piece(rank_, from).data());
    // The sum comes to lie where the values of rank 0 were.
    const bool copies = others_read || rank_ != 0;
    const std::span<std::byte> copied = rank_ == 0 ? piece(0, 0) : own;
    const auto elements = std::int64_t(own.size() / size);
    for (std::int64_t first = 0; first < elements; first += block_elements) {
        const std::int64_t end = std::min(first + block_elements, elements);
        combine_roots({0, how}, dtype, roots, first, end);
        const std::size_t at = std::size_t(first) * size;
        const std::size_t bytes = std::size_t(end - first) * size;
        if (copies) copy({roots[0] + at, bytes}, copied.subspan(at, bytes));
    }
}

std::size_t SharedSums::shard_bytes_max() const {
    return piece_bytes_ - rounding_bytes;
}

void SharedSums::reduce_scatter(Combine how, DType dtype,
                                std::span<const std::span<std::byte>> shards) {
    for_each_part(shards, shard_bytes_max(),
                  [&](std::span<const std::span<std::byte>> part) { scatter(how, dtype, part); });
}

void SharedSums::gather_shards(std::span<const std::span<std::byte>> shards) {
    for_each_part(shards, shard_bytes_max(),
                  [&](std::span<const std::span<std::byte>> part) { gather(part); });
}

void SharedSums::scatter(Combine how, DType dtype, std::span<const std::span<std::byte>> shards) {
    for (int other = 0; other < count_; ++other)
        if (other != rank_) copy(shards[std::size_t(other)], piece(other, rank_));
    arrivals_.arrive();
    arrivals_.wait_for_all();
    add_own_slice(how, dtype, shards[std::size_t(rank_)], false);
    ++parts_;
}

void SharedSums::gather(std::span<const std::span<std::byte>> shards) {
    copy(shards[std::size_t(rank_)], piece(rank_, 0));
    arrivals_.arrive();
    for (int other = 0; other < count_; ++other) {
        if (other == rank_) continue;
        arrivals_.wait_for(other);
        const std::span<std::byte> shard = shards[std::size_t(other)];
        copy(piece(other, 0).first(shard.size()), shard);
    }
    ++parts_;
}

}    // namespace slipway
