#pragma once

#include <fmt/format.h>

#include <string>

#include "executor/train/reporter.h"

namespace slipway {

/// Of a member that does not report for the attempt: its log alone is heard, with its name. It is
/// asked to stop and to save as another.
class QuietReporter final : public Reporter {
public:
    /// `reporter` must outlive it.
    QuietReporter(Reporter& reporter, std::string name)
        : reporter_(reporter), name_(std::move(name)) {}

    void state(JobState) override {}
    void begin(std::int64_t) override {}
    void progress(const Progress&) override {}
    void metric(const MetricPoint&) override {}
    void epoch(const EpochSummary&) override {}
    void log(const std::string& level, const std::string& message) override {
        reporter_.log(level, fmt::format("{}: {}", name_, message));
    }
    void warning(const std::string& code, const std::string& message) override {
        reporter_.warning(code, fmt::format("{}: {}", name_, message));
    }
    void checkpoint(const SavedCheckpoint&) override {}
    void compiled(const CompiledProgram&) override {}
    void reported(const WrittenReport&) override {}
    bool save_requested() override { return reporter_.save_requested(); }
    StopReason stop_requested() override { return reporter_.stop_requested(); }

private:
    Reporter& reporter_;
    const std::string name_;
};

}    // namespace slipway
