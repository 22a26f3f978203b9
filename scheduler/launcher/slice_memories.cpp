#include "scheduler/launcher/slice_memories.h"

#include <algorithm>

#include "api/base/error.h"
#include "api/base/log.h"
#include "api/protocol/slice_memory.h"

namespace slipway {

std::shared_ptr<const UniqueFd> SliceMemories::take(const MemberPlace& member) {
    const std::lock_guard lock(mutex_);
    auto slice = std::ranges::find(slices_, member.slice, &Slice::name);
    if (slice == slices_.end()) {
        try {
            auto made = std::make_shared<const UniqueFd>(make_slice_memory(member.count));
            slice = slices_.insert(slices_.end(), {member.slice, std::move(made), {}});
        } catch (const Error& error) {    // the members go on over their connections
            log_warn("a slice has no shared memory",
                     {{"slice", member.slice}, {"reason", error.what()}});
            return nullptr;
        }
        if (slices_.size() > slices_max) slices_.pop_front();
    }
    slice->given.insert(member.rank);
    const std::shared_ptr<const UniqueFd> memory = slice->memory;
    if (slice->given.size() >= std::size_t(member.count)) slices_.erase(slice);
    return memory;
}

std::size_t SliceMemories::count() const {
    const std::lock_guard lock(mutex_);
    return slices_.size();
}

}    // namespace slipway
