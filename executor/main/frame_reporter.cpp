#include "executor/main/frame_reporter.h"

#include <nlohmann/json.hpp>

#include "api/protocol/frames.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds progress_every{500};
constexpr std::chrono::seconds epoch_every{1};
constexpr std::size_t text_bytes_max = 8192;

std::vector<CheckpointFrame::File> files_of(const SavedCheckpoint& checkpoint) {
    std::vector<CheckpointFrame::File> files;
    for (const SavedFile& file : checkpoint.files)
        files.push_back({.name = file.name, .bytes = file.bytes, .sha256 = file.sha256});
    return files;
}

}    // namespace

std::string bounded(std::string text) {
    if (text.size() <= text_bytes_max) return text;
    std::size_t end = text_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;    // never inside a character
    text.resize(end);
    return text + "…";
}

FrameReporter::FrameReporter(FrameSink sink, RunRequests requests, const Clock& clock)
    : sink_(std::move(sink)), requests_(std::move(requests)), clock_(clock) {}

void FrameReporter::state(JobState state) {
    sink_(to_json(StateFrame{.state = state}));
}

void FrameReporter::begin(std::int64_t /*step*/) {}    // checkpoints say it already

void FrameReporter::progress(const Progress& progress) {
    const Tick now = clock_.tick();
    const bool last = progress.step == progress.steps_total;
    if (now < next_progress_ && progress.phase == phase_ && !last) return;
    next_progress_ = now + progress_every;
    phase_ = progress.phase;
    sink_(to_json(ProgressFrame{.epoch = progress.epoch,
                                .epochs = progress.epochs,
                                .step = progress.step,
                                .steps_total = progress.steps_total,
                                .samples = progress.samples,
                                .samples_per_s = progress.samples_per_s,
                                .eta_s = progress.eta_s,
                                .phase = progress.phase}));
}

void FrameReporter::metric(const MetricPoint& point) {
    if (point.values.empty()) return;
    sink_(to_json(MetricFrame{.step = point.step, .epoch = point.epoch, .values = point.values}));
}

void FrameReporter::epoch(const EpochSummary& summary) {
    const Tick now = clock_.tick();
    if (now < next_epoch_ && summary.epoch != summary.epochs) return;
    next_epoch_ = now + epoch_every;
    log("info", describe(summary));
}

void FrameReporter::log(const std::string& level, const std::string& message) {
    sink_(to_json(LogFrame{.level = level, .message = bounded(message)}));
}

void FrameReporter::warning(const std::string& code, const std::string& message) {
    sink_(to_json(WarningFrame{.code = code, .message = bounded(message)}));
}

void FrameReporter::checkpoint(const SavedCheckpoint& checkpoint) {
    sink_(to_json(CheckpointFrame{.step = checkpoint.step,
                                  .epoch = checkpoint.epoch,
                                  .name = checkpoint.name,
                                  .kinds = checkpoint.kinds,
                                  .files = files_of(checkpoint),
                                  .metric = checkpoint.metric,
                                  .pruned = checkpoint.pruned,
                                  .kept = CheckpointFrame::Kept{checkpoint.last, checkpoint.best},
                                  .writer = checkpoint.writer}));
}

void FrameReporter::compiled(const CompiledProgram& program) {
    CompileFrame frame{.program = program.program,
                       .hash = program.hash,
                       .seconds = program.seconds,
                       .cached = program.cached,
                       .peak_bytes = program.peak_bytes};
    if (program.after_warm_up) frame.cause = bounded(program.cause);
    sink_(to_json(frame));
}

void FrameReporter::reported(const WrittenReport& report) {
    sink_(to_json(ReportFrame{.step = report.step,
                              .finished = report.finished,
                              .verdict = report.verdict,
                              .field = report.field,
                              .message = bounded(report.message)}));
}

bool FrameReporter::save_requested() {
    return requests_.save();
}

StopReason FrameReporter::stop_requested() {
    return requests_.stop();
}

}    // namespace slipway
