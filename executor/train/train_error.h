#pragma once

#include <source_location>
#include <string>
#include <utility>

#include "api/base/error.h"

namespace slipway {

/// A training failure that has a code of its own; `reason` is the job's failure code
/// (data_error, data_changed, nan_loss, out_of_memory, spec_error, checkpoint_corrupt,
/// checkpoint_incompatible, disk_full, member_lost, members_differ).
class TrainError : public Error {
public:
    TrainError(std::string reason, const std::string& message,
               std::source_location where = std::source_location::current())
        : Error(ErrorCode::invalid_argument, message, where), reason_(std::move(reason)) {}
    const std::string& reason() const { return reason_; }

private:
    std::string reason_;
};

/// The failure code of a checkpoint that cannot be read.
inline std::string unusable_reason(const Error& error) {
    const bool of_another_build = error.code() == ErrorCode::invalid_argument;
    return of_another_build ? "checkpoint_incompatible" : "checkpoint_corrupt";
}

}    // namespace slipway
