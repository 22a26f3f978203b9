#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/launcher/process_id.h"

// What is kept of a job of Slurm as the id of a process: the job's number and a mark, negative, so
// that no id of this machine's processes is one. The mark stands in the job's comment: a number
// comes once more when a cluster is set up again.
namespace slipway {

/// A mark of a job of one program; below 2^62.
std::int64_t random_mark();
/// The mark of a slice's job: the same for whoever knows the slice's name, so that its members find
/// the job without each other. From 2^62 on, with room for the rank of a member.
std::int64_t slice_mark(const std::string& slice);

/// A member of a slice, by its id.
struct MarkedMember {
    std::int64_t mark = 0;    ///< of the slice
    int rank = 0;
};

ProcessId id_of(std::int64_t number, std::int64_t mark);
ProcessId id_of_member(std::int64_t number, const MarkedMember& member);

/// Not a process of this machine.
bool is_job(const ProcessId& id);
/// None: the job has no members.
std::optional<MarkedMember> member_of(const ProcessId& id);
/// Of the job.
std::int64_t mark_of(const ProcessId& id);

}    // namespace slipway
