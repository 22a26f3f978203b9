#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <functional>
#include <string>

#include "api/base/clock.h"
#include "api/base/json.h"
#include "executor/train/reporter.h"

namespace slipway {

/// Where frames go: FrameLog::emit, followed by whatever wakes the listener.
using FrameSink = std::function<void(const Json& frame)>;

/// What a run is asked for, looked up between steps; see Reporter.
struct RunRequests {
    std::function<StopReason()> stop;
    std::function<bool()> save = [] { return false; };
};

/// Turns what a training run reports into frames (docs/contributing/protocol.md). Progress is sent
/// at most twice a second, the last step of a phase always; an epoch's summary at most once a
/// second, the last one always. Training thread only.
class FrameReporter : public Reporter {
public:
    /// `clock` outlives the reporter.
    FrameReporter(FrameSink sink, RunRequests requests, const Clock& clock);

    void state(JobState state) override;
    void begin(std::int64_t step) override;
    void progress(const Progress& progress) override;
    void metric(const MetricPoint& point) override;
    void epoch(const EpochSummary& summary) override;
    void log(const std::string& level, const std::string& message) override;
    void warning(const std::string& code, const std::string& message) override;
    void checkpoint(const SavedCheckpoint& checkpoint) override;
    void compiled(const CompiledProgram& program) override;
    void reported(const WrittenReport& report) override;
    bool save_requested() override;
    StopReason stop_requested() override;

private:
    const FrameSink sink_;
    const RunRequests requests_;
    const Clock& clock_;
    Tick next_progress_{}, next_epoch_{};
    std::string phase_;    // of the last progress passed on
};

/// Text of at most 8 KiB, so that one frame is one small write; cut texts end with "…".
std::string bounded(std::string text);

}    // namespace slipway
