#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/placement/machine.h"
#include "scheduler/placement/placement.h"
#include "scheduler/placement/slice.h"

// Why a job could not run were all cores free, in the words of a person. Pure.
namespace slipway {

WaitReason reason_for(const WaitingJob& job, std::string code, std::string message);

/// "host a is drained (new disk)"
std::string drained_host(const CoreSlot& core);

/// " of pool slurm", where the job names one.
std::string of_its_pool(const WaitingJob& job);

/// No host is of the job's pool, or none of them is up; none: some are, or it names no pool.
std::optional<WaitReason> explain_no_pool(const WaitingJob& job, const Machine& machine);

/// No host has cores and memory enough and is up.
WaitReason explain_no_host(const WaitingJob& job, const Machine& machine);

/// "the job needs 4 whole hosts of 8 cores"
std::string needs_hosts(const WaitingJob& job);

/// Fewer hosts than a slice has could be had.
WaitReason explain_few_hosts(const WaitingJob& job, const std::vector<NamedHost>& hosts);

}    // namespace slipway
