#pragma once

#include <filesystem>

#include "api/base/clock.h"
#include "api/base/posix.h"
#include "executor/train/reporter.h"

namespace slipway {

/// An event file for TensorBoard, FOLDER/events.out.tfevents.SECONDS.HOST.PID.N: TFRecords of
/// tensorflow's Event. Each point is one write: whoever is killed has lost none. One thread.
class EventFile {
public:
    /// Makes a new file, and the folder when absent; none of the same name may be there.
    ///   done  steps that are reported for good: later ones are said anew, and a reader that has
    ///         seen them forgets them
    /// errors  throws exhausted, unavailable
    EventFile(const std::filesystem::path& folder, std::int64_t done, const Clock& clock);

    /// errors  throws exhausted when the disk is full
    void add(const MetricPoint& point);
    const std::filesystem::path& path() const { return path_; }

private:
    double now() const;
    void write(const std::string& event);

    const Clock& clock_;    // the main's
    std::filesystem::path path_;
    UniqueFd file_;
};

/// Cuts the event files of a folder behind step `done`: what they say of later steps, and what a
/// killed process has left half-written.
/// errors  throws unavailable
void cut_event_files(const std::filesystem::path& folder, std::int64_t done);

}    // namespace slipway
