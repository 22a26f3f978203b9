#include "executor/main/run_local.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/printable.h"
#include "api/spec/dataset_format.h"
#include "executor/checkpoint/checkpoint.h"
#include "executor/data/dataset.h"
#include "executor/main/frame_reporter.h"
#include "executor/main/frames/frame_log.h"
#include "executor/main/run_folder.h"
#include "executor/main/sinks.h"
#include "executor/main/stop_signal.h"
#include "executor/runtime/cpus.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

std::string read_text(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw Error{ErrorCode::not_found, fmt::format("cannot read {}", file.string())};
    }
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Nobody else keeps a record here: what is pruned goes at once.
class AloneReporter final : public SinkReporter {
public:
    AloneReporter(Reporter& frames, const AttemptPlan& plan, const Clock& clock, std::FILE* output)
        : SinkReporter(frames, plan.spec.monitor.sinks, plan.report_folder, clock,
                       {console_sink(output)}),
          checkpoints_(plan.checkpoint_folder) {}

    void checkpoint(const SavedCheckpoint& checkpoint) override {
        SinkReporter::checkpoint(checkpoint);
        for (const std::string& name : checkpoint.pruned)
            fs::remove_all(checkpoints_ / fs::path(name).filename());
    }

private:
    const fs::path checkpoints_;
};

/// Names end with "_attempt_N": the next run must not collide with one that is there.
int next_attempt(const fs::path& checkpoints) {
    constexpr std::string_view mark = "_attempt_";
    int newest = 0;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(checkpoints, absent)) {
        const std::string name = entry.path().filename().string();
        const std::size_t at = name.rfind(mark);
        if (at == std::string::npos) continue;
        int number = 0;
        std::from_chars(name.data() + at + mark.size(), name.data() + name.size(), number);
        newest = std::max(newest, number);
    }
    return newest + 1;
}

AttemptPlan plan_of(const RunLocalOptions& options) {
    AttemptPlan plan;
    plan.spec = read_job_spec(read_text(options.job)).value();
    plan.dataset_path = options.data.empty() ? fs::path(plan.spec.data.dataset) : options.data;
    if (!fs::exists(plan.dataset_path)) {
        throw Error{ErrorCode::not_found,
                    fmt::format("there is no dataset at {}; give its folder with --data",
                                plan.dataset_path.string())};
    }
    plan.dataset_format = options.format.empty() ? guess_format(plan.dataset_path) : options.format;
    if (plan.dataset_format.empty()) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("the format of {} is not clear from its files; give it with "
                                "--format ({})",
                                plan.dataset_path.string(), fmt::join(dataset_formats(), ", "))};
    }
    plan.dataset_options = options.data_options;
    plan.checkpoint_folder = options.out / "checkpoints";
    plan.report_folder = options.out;
    plan.cache_folder = options.cache;
    plan.packed_folder = options.packed;
    plan.worker_threads = options.workers;
    plan.keeps_workers = options.workers > 0;
    plan.cpu_scope = machine_cpu_scope;
    plan.memory_bytes_max = plan.spec.accelerator.memory_bytes.value_or(0);
    if (plan.spec.model.init) plan.init_from = plan.spec.model.init->from;
    if (!plan.spec.model.from.empty()) plan.network_from = plan.spec.model.from;
    if (!plan.spec.data.split.id.empty()) plan.split_file = SplitFile{plan.spec.data.split.id};
    if (options.resume) {
        NewestCheckpoint newest = find_newest_checkpoint(plan.checkpoint_folder);
        plan.resume_from = std::move(newest.whole);
        plan.passed_over = std::move(newest.damaged);
    }
    plan.attempt = next_attempt(plan.checkpoint_folder);
    return plan;
}

void prepare_out(const RunLocalOptions& options) {
    fs::create_directories(options.out);
    if (options.resume || !fs::exists(options.out / "frames.ndjson")) return;
    throw Error{ErrorCode::conflict,
                fmt::format("{} already holds a run: continue it with --resume, or give another "
                            "folder with --out",
                            options.out.string())};
}

void tell_ending(const Ending& ending, const fs::path& out, std::FILE* output) {
    if (ending.outcome == AttemptOutcome::orphaned) {
        fmt::print(output, "stopped and saved; continue with --resume\n");
        return;
    }
    if (ending.outcome != AttemptOutcome::succeeded) {
        fmt::print(output, "{}: {}: {}\n", to_string(ending.outcome), ending.code,
                   printable_line(ending.message));
        return;
    }
    std::string line = "succeeded";
    const Json result = Json::parse(ending.result);
    for (const auto& [name, value] : result.items())
        if (value.is_number()) line += fmt::format("  {} {:.6g}", name, value.get<double>());
    fmt::print(output, "{}\nresults in {}\n", line, out.string());
}

Ending train(const RunLocalOptions& options, const Trainer& trainer, const Clock& clock,
             std::FILE* output) {
    prepare_out(options);
    AttemptPlan plan = plan_of(options);
    FrameLog log(options.out / "frames.ndjson", clock);
    FrameReporter frames(
        [&log](const Json& frame) { log.emit(frame); },
        {.stop = [] { return stop_signalled() ? StopReason::drain : StopReason::none; }}, clock);
    Ending ending;
    {
        AloneReporter reporter(frames, plan, clock, output);
        ending = train_to_the_end(trainer, std::move(plan), reporter);
    }
    log.emit(done_frame(ending));
    return ending;
}

/// A part of a file's name, and the format that has such files.
struct Mark {
    std::string_view text;
    DatasetFormat format;
};

std::vector<Mark> marks() {
    std::vector<Mark> list;
    for (std::size_t i = 0; i < dataset_format_traits.size(); ++i)
        for (const std::string_view text : dataset_format_traits[i].marks)
            if (!text.empty()) list.push_back({text, DatasetFormat(i)});
    return list;
}

}    // namespace

std::string guess_format(const fs::path& data) {
    if (fs::is_regular_file(data)) {
        for (const Mark& mark : marks())
            if (data.filename().string().find(mark.text) != std::string::npos)
                return std::string(to_string(mark.format));
        return "";
    }
    const auto any = [&data](auto test) {
        return std::ranges::any_of(fs::directory_iterator(data), [&](const auto& entry) {
            return test(entry, entry.path().filename().string());
        });
    };
    const bool folders =
        any([](const auto& entry, const std::string&) { return entry.is_directory(); });
    for (const Mark& mark : marks()) {
        const bool found = any([&mark](const auto&, const std::string& name) {
            return name.find(mark.text) != std::string::npos;
        });
        // A text beside folders is about them.
        if (!found || (mark.format == DatasetFormat::text && folders)) continue;
        const bool of_files = folders || fs::exists(data / "labels.csv");
        const bool lists_files = mark.format == DatasetFormat::csv && of_files;
        return std::string(to_string(lists_files ? DatasetFormat::image_csv : mark.format));
    }
    return folders ? "image_folder" : "";
}

int run_local(const RunLocalOptions& options, const Trainer& trainer, const Clock& clock,
              std::FILE* output) {
    catch_stop_signals();
    try {
        const Ending ending = train(options, trainer, clock, output);
        tell_ending(ending, options.out, output);
        return ending.exit_code;
    } catch (const std::exception& error) {
        fmt::print(output, "{}\n", printable_text(error.what()));
        return exit_failed;
    }
}

}    // namespace slipway
