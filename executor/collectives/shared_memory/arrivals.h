#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace slipway {

/// What is asked and done about members that have not arrived. Called by who waits for them.
struct MissingMembers {
    std::function<bool(int rank)> has_ended;
    std::function<void(int rank)> lose_ended;                        ///< throws
    std::function<void(const std::vector<int>& ranks)> lose_late;    ///< throws
};

/// Points that all members pass together, by counts in memory that they share: each has arrived
/// so often. A wait takes no CPU.
///
/// Thread rule: one thread of each member.
class Arrivals {
public:
    /// Bytes at the beginning of the memory that `count` members take for their counts.
    static std::size_t bytes_of(int count);
    /// Sets the count of this member to 0: it must be so before another one waits.
    ///   memory  bytes_of(count), of all members; outlives this
    ///   limit   for the others, from the arrival of this member
    Arrivals(std::span<std::byte> memory, int rank, int count, std::chrono::nanoseconds limit,
             MissingMembers missing_members);

    /// This member is at the next point: what it has written before is seen by who waits for it.
    void arrive();
    /// Until that member is at the point where this one arrived last.
    /// errors  what lose_ended and lose_late throw
    void wait_for(int rank);
    void wait_for_all();

private:
    std::uint32_t& count_of(int rank) const;
    bool has_arrived(int rank) const;
    bool is_reached(std::uint32_t times) const;
    std::vector<int> missing() const;
    void look_after(const std::vector<int>& ranks) const;

    const std::span<std::byte> memory_;
    const int rank_;
    const int count_;
    const std::chrono::nanoseconds limit_;
    const MissingMembers missing_members_;
    std::uint32_t arrived_ = 0;
    std::chrono::steady_clock::time_point until_;    ///< all must be at this point
};

}    // namespace slipway
