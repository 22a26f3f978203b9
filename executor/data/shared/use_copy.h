#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "executor/data/shared/copy_records.h"

namespace slipway {

struct SharingOptions {
    /// Of the copies of one dataset, for those who may trust one another; made when absent. Empty:
    /// nothing is shared.
    std::filesystem::path folder = {};
    std::int64_t bytes_max = std::int64_t{32} << 30;    ///< of one copy
    std::string reader = {};    ///< the program and its build: another one may read otherwise
    int threads = 0;            ///< that compare sums; 0: one for each CPU
    /// For another process that makes the same copy. One that is killed is not waited for.
    std::chrono::milliseconds wait_max = std::chrono::minutes(10);
    /// A file's last change must lie so far back that another one would have another time: file
    /// systems round to a second, and some to two.
    std::chrono::seconds settled_after{2};
};

enum class Sharing {
    none,     ///< what was read is this process's own
    found,    ///< a copy that another process, or an earlier run, has made
    made      ///< a copy that was made now, for others as well
};

struct SharingOutcome {
    Sharing sharing = Sharing::none;
    std::string why_not = {};    ///< of none, where something was to be shared
    std::int64_t bytes = 0;      ///< of the copy
    double waited_s = 0;         ///< for another process
    bool replaced = false;       ///< made because the one that was there was damaged
};

/// What can be read from its source, or from a copy.
struct Copied {
    /// From the source. What it throws leaves use_copy().
    std::function<void()> open;
    std::function<void(CopyWriter&)> write;
    /// Instead of what was opened, if anything was. errors  throws data_loss, and changes nothing
    std::function<void(CopyReader&)> read;
};

/// What a copy depends on, in words, and why there can be none now.
struct CopyFacts {
    std::string text;
    std::string why_not = {};
};

/// Reads a copy, or opens the source and makes the copy that others read: once, whatever number of
/// processes begin together. Whatever is wrong with a copy, its folder or the disk, and a process
/// that takes too long, cost no more than a copy: `why_not` says it, and the source is opened.
/// `facts` is asked again after the source was read: when they are others, there is no copy.
SharingOutcome use_copy(const SharingOptions& options, const std::function<CopyFacts()>& facts,
                        const Copied& copied);

}    // namespace slipway
