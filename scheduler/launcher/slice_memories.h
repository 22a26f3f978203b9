#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <set>

#include "api/base/posix.h"
#include "scheduler/launcher/launcher.h"

namespace slipway {

/// The memory that the members of a slice share on this machine, until each has been given it. Who
/// is alone here, with all others on other machines, has it for nothing: nobody writes to it. Safe
/// from every thread.
class SliceMemories {
public:
    /// Slices whose members are being started; the oldest one gives way.
    static constexpr std::size_t slices_max = 64;

    /// Of the slice of this member; the first one makes it. Null: the system gives none.
    std::shared_ptr<const UniqueFd> take(const MemberPlace& member);
    /// That are kept for members to come.
    std::size_t count() const;

private:
    struct Slice {
        std::string name;
        std::shared_ptr<const UniqueFd> memory;
        std::set<int> given;    ///< ranks
    };

    mutable std::mutex mutex_;
    std::list<Slice> slices_;    ///< guarded by mutex_; the oldest first
};

}    // namespace slipway
