// all_reduce adds in the order of the fixed tree over ranks, and yet sends no more than a ring
// does: each rank is given everybody's piece of one slice of the values, adds the pieces in the
// tree's order, and gives the sum to all. Each element is added once, by one rank, in the same
// order whoever does it. A ring sends as much and adds each slice in an order of its own; sending
// whole values up a tree sends log(ranks) times as much through its root. What is small is sent to
// all at once: half as many round trips, and each rank adds it all.
#include "executor/collectives/gloo/gloo_member.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/collectives/gloo/memory_agreement.h"
#include "executor/collectives/gloo/rendezvous.h"
#include "executor/collectives/slices.h"
#include "executor/runtime/reduction_tree.h"
#include "executor/tensor/dtype.h"

namespace slipway {

namespace {

/// Up to here a second round trip takes longer than the bytes: 16 KiB are 13 us at 10 Gbit/s.
constexpr std::size_t whole_bytes_max = std::size_t{16} << 10;
constexpr const char* all_reduce_phase = "all_reduce";

}    // namespace

GlooMember::GlooMember(const MemberOrder& order) : mesh_(order) {
    share_memory();
}

GlooMember::~GlooMember() {
    end_busy();
}

void GlooMember::share_memory() {
    SharedMapping mapping = agree_on_memory(mesh_);
    if (mapping.empty()) return;
    const std::chrono::duration<double> limit(mesh_.order().timeout_s);
    shared_sums_.emplace(
        std::move(mapping), rank(), count(),
        std::chrono::duration_cast<std::chrono::nanoseconds>(limit),
        MissingMembers{
            .has_ended = [this](int other) { return mesh_.has_ended(other); },
            .lose_ended = [this](int other) { mesh_.lose_ended(all_reduce_phase, other); },
            .lose_late =
                [this](const std::vector<int>& late) { mesh_.lose_late(all_reduce_phase, late); }});
    mesh_.meet_at("the shared memory");
}

std::string GlooMember::name_of(int rank) const {
    return member_name(mesh_.order(), rank);
}

void GlooMember::all_reduce(Combine how, DType dtype, std::span<std::byte> values) {
    if (values.empty()) return;
    mesh_.require_usable();
    if (shared_sums_)
        shared_sums_->all_reduce(how, dtype, values);
    else if (values.size() <= whole_bytes_max)
        reduce_whole(how, dtype, values);
    else
        reduce_slices(how, dtype, values);
}

/// What received_ holds: the others' values, or their pieces of this member's slice.
std::int64_t GlooMember::staging_bytes(std::int64_t value_bytes) const {
    if (shared_sums_) return shared_sums_->member_bytes();
    if (value_bytes <= std::int64_t(whole_bytes_max)) return value_bytes * count();
    constexpr auto rounding_bytes = line_alignment * std::int64_t(sizeof(std::int64_t));
    return (value_bytes / count() + rounding_bytes) * (count() - 1);
}

void GlooMember::reduce_whole(Combine how, DType dtype, std::span<std::byte> values) {
    received_.resize(values.size() * std::size_t(count()));
    all_gather(values, received_, all_reduce_phase);
    std::vector<std::byte*> roots;
    for (int each = 0; each < count(); ++each)
        roots.push_back(received_.data() + std::size_t(each) * values.size());
    combine_roots({0, how}, dtype, roots, 0, std::int64_t(values.size() / size_in_bytes(dtype)));
    std::copy_n(roots[0], values.size(), values.begin());
}

void GlooMember::reduce_slices(Combine how, DType dtype, std::span<std::byte> values) {
    std::vector<std::span<std::byte>> slices;
    for (int of = 0; of < count(); ++of)
        slices.push_back(
            slice_of(values, size_in_bytes(dtype), std::size_t(of), std::size_t(count())));
    reduce_scatter(how, dtype, slices);
    gather_shards(slices);
}

void GlooMember::reduce_scatter(Combine how, DType dtype,
                                std::span<const std::span<std::byte>> shards) {
    mesh_.require_usable();
    if (shared_sums_) return shared_sums_->reduce_scatter(how, dtype, shards);
    const std::span<std::byte> own = shards[std::size_t(rank())];
    received_.resize(own.size() * mesh_.others().size());
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    std::vector<std::byte*> roots(std::size_t(count()), own.data());
    std::size_t place = 0;
    for (const int other : mesh_.others()) {
        const std::span piece = std::span(received_).subspan(place++ * own.size(), own.size());
        roots[std::size_t(other)] = piece.data();
        in.push_back({other, piece});
        out.push_back({other, shards[std::size_t(other)]});
    }
    mesh_.exchange(all_reduce_phase, out, in);
    combine_roots({0, how}, dtype, roots, 0, std::int64_t(own.size() / size_in_bytes(dtype)));
    if (rank() != 0) std::copy_n(roots[0], own.size(), own.begin());
}

void GlooMember::gather_shards(std::span<const std::span<std::byte>> shards) {
    mesh_.require_usable();
    if (shared_sums_) return shared_sums_->gather_shards(shards);
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const int other : mesh_.others()) {
        out.push_back({other, shards[std::size_t(rank())]});
        in.push_back({other, shards[std::size_t(other)]});
    }
    mesh_.exchange(all_reduce_phase, out, in);
}

void GlooMember::broadcast(int from, std::span<std::byte> values, std::string_view name) {
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    if (rank() == from)
        for (const int other : mesh_.others())
            out.push_back({other, values});
    else
        in.push_back({from, values});
    mesh_.exchange(name, out, in);
}

void GlooMember::all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                            std::string_view name) {
    check(all.size() == mine.size() * std::size_t(count()), "everybody gives as much");
    const auto place = [&](int of) {
        return all.subspan(std::size_t(of) * mine.size(), mine.size());
    };
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (const int other : mesh_.others()) {
        out.push_back({other, mine});
        in.push_back({other, place(other)});
    }
    std::ranges::copy(mine, place(rank()).begin());
    mesh_.exchange(name, out, in);
}

void GlooMember::barrier(std::string_view name) {
    end_busy();
    mesh_.meet_at(name);
}

void GlooMember::busy() {
    end_busy();
    is_busy_ = true;
    teller_ = std::thread([this] { tell_life(); });
}

void GlooMember::end_busy() {
    if (!teller_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        is_busy_ = false;
    }
    ended_busy_.notify_all();
    teller_.join();
}

/// Several times within the limit: one word that is late is no loss. That a connection is broken is
/// found by the operation that comes next.
void GlooMember::tell_life() {
    const std::chrono::duration<double> pause(mesh_.order().timeout_s / 4);
    std::unique_lock lock(mutex_);
    while (!ended_busy_.wait_for(lock, pause, [&] { return !is_busy_; }))
        if (!mesh_.send_word({})) return;
}

}    // namespace slipway
