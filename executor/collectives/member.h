#pragma once

#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include "api/base/error.h"
#include "api/protocol/attempt_order.h"
#include "executor/runtime/collectives.h"

namespace slipway {

/// Another member of the attempt has ended, is not there in time, or is not who it must be. The
/// message names rank, host and phase. The attempt cannot go on here.
class MemberLost : public Error {
public:
    explicit MemberLost(const std::string& message,
                        std::source_location where = std::source_location::current())
        : Error(ErrorCode::unavailable, message, where) {}
};

/// One process of an attempt that runs on several hosts, connected to all others. Every operation
/// is called by all members in the same order, with as many bytes in each, and returns when its
/// result is there. `phase` is what errors call the operation.
///
/// Thread rule: that of Collectives.
/// errors  every operation throws MemberLost when another member has ended or does not come within
///         the order's timeout_s; the member is of no use then, and says the same again
class Member : public Collectives {
public:
    /// "rank 2 (training-3)".
    virtual std::string name_of(int rank) const = 0;
    /// All members are processes of one machine and all_reduce goes through memory that they share;
    /// otherwise through their connections. The same in every member.
    virtual bool adds_in_shared_memory() const = 0;

    /// The values of member `from`, in every member.
    virtual void broadcast(int from, std::span<std::byte> values, std::string_view phase) = 0;
    /// all[r] = what member r gave, count() times as many bytes as `mine`.
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                            std::string_view phase) = 0;

    /// Returns when all members are here. For those that said busy() it waits as long as they live.
    virtual void barrier(std::string_view name) = 0;
    /// What comes now may take longer than timeout_s: from here to its next barrier this member
    /// tells the others from time to time that it is alive. No operation but barrier may follow.
    virtual void busy() = 0;

protected:
    Member() = default;
};

/// What the library of collectives exports: sets `member` (library/join.h says how it is made).
using JoinEntry = void (*)(const MemberOrder& order, std::unique_ptr<Member>& member);
inline constexpr const char* join_entry_symbol = "slipway_join";

}    // namespace slipway
