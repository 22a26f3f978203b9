#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/job_spec.h"
#include "executor/train/reporter.h"

namespace slipway {

/// Where a run's numbers go besides its frames. What a sink does not take is empty.
struct Sink {
    std::string name;
    std::function<void(const MetricPoint&)> metric = {};
    std::function<void(const Progress&)> progress = {};
    std::function<void(const EpochSummary&)> epoch = {};
    std::function<void(const std::string& line)> say = {};
};

/// Where files of sinks go, and what is in them already.
struct SinkPlace {
    std::filesystem::path folder;    ///< exists
    std::int64_t done = 0;           ///< steps reported for good: later ones are said anew
    const Clock& clock;
};

/// metrics.csv (metrics_csv.h), or tensorboard/ (event_files.h), in the place's folder.
/// errors  throws exhausted, unavailable; so does the sink
Sink open_sink(SinkName name, const SinkPlace& place);

/// A bar on a terminal, lines elsewhere (progress_bar.h): for a person beside a run, never for one
/// under an agent.
Sink console_sink(std::FILE* output);

/// Passes everything on to another reporter and the numbers to sinks besides. A sink that cannot
/// be written costs the job its file, not its life: it is said once, as the warning `sink_failed`,
/// and gets nothing more. Training thread only.
class SinkReporter : public Reporter {
public:
    /// Makes the folder with the first file.
    ///   inner, clock  outlive the reporter
    ///   names         opened when the run begins, in `folder`; none when that is empty
    ///   open          sinks that are there already
    SinkReporter(Reporter& inner, std::vector<SinkName> names, std::filesystem::path folder,
                 const Clock& clock, std::vector<Sink> open = {});

    void state(JobState state) override { inner_.state(state); }
    void begin(std::int64_t step) override;
    void progress(const Progress& progress) override;
    void metric(const MetricPoint& point) override;
    void epoch(const EpochSummary& summary) override;
    void log(const std::string& level, const std::string& message) override;
    void warning(const std::string& code, const std::string& message) override;
    void checkpoint(const SavedCheckpoint& checkpoint) override { inner_.checkpoint(checkpoint); }
    void compiled(const CompiledProgram& program) override { inner_.compiled(program); }
    void reported(const WrittenReport& report) override { inner_.reported(report); }
    bool save_requested() override { return inner_.save_requested(); }
    StopReason stop_requested() override { return inner_.stop_requested(); }

private:
    template <class Value>
    void give(std::function<void(const Value&)> Sink::*part, const Value& value);
    void complain(const std::string& name, const Error& error);

    Reporter& inner_;
    const std::vector<SinkName> names_;
    const std::filesystem::path folder_;
    const Clock& clock_;
    std::vector<Sink> sinks_;
};

}    // namespace slipway
