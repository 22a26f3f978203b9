// The training thread says when each phase begins and ends; the engine's times of each program
// tell what the cores did, and its binding of arrays is taken from execution and counted as
// transfer. A timeline is kept for the second step, when everything is compiled, and then for
// every 64th. Files are written aside and renamed, at most every ten seconds while the job runs,
// so that a reader never sees half a page.
#include "executor/explain/explainer.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "executor/cache/object_cache.h"
#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/explain/graph_page.h"
#include "executor/graph/dot.h"
#include "executor/graph/stablehlo/stablehlo.h"
#include "executor/processor/instruction_set.h"
#include "executor/runtime/run_times.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t steps_per_timeline = 64;
constexpr std::size_t epochs_max = 200;
constexpr std::chrono::seconds write_every{10};
constexpr int writes_share = 200;    // writing takes at most one part in so many

double seconds(Tick::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// CPU time of all threads of the process. Asked for once per report: it is a system call.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void make_folders(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder / "graphs", problem);
    if (problem) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot make {}: {}", folder.string(), problem.message())};
    }
}

std::map<std::string, std::int64_t> counts_of(const ObjectCache& cache) {
    const ObjectCacheCounts counts = cache.counts();
    return {{"hits", counts.hits},     {"misses", counts.misses}, {"damaged", counts.damaged},
            {"stored", counts.stored}, {"failed", counts.failed}, {"evicted", counts.evicted}};
}

}    // namespace

Explainer::Explainer(Engine& engine, ExplainOptions options, const Clock& clock)
    : engine_(engine),
      options_(std::move(options)),
      clock_(clock),
      cpu_begin_s_(cpu_seconds()),
      timeline_(options_.started),
      read_name_(timeline_.name("read batch")),
      step_name_(timeline_.name("step")),
      sum_name_(timeline_.name("all_reduce")),
      workers_(std::size_t(engine.workers())),
      worker_cpus_(engine.worker_cpus()),
      graphs_(Json::array()) {
    for (const PhaseRow& row : phase_rows())
        phase_names_[std::size_t(row.phase)] = timeline_.name(row.name);
}

void Explainer::entered(Phase phase) {
    if (options_.position != nullptr)
        set_phase(*options_.position, phase_rows()[std::size_t(phase)].name);
}

void Explainer::ended(Phase phase, Tick begin, Tick end) {
    const PhaseRow& row = phase_rows()[std::size_t(phase)];
    const double spent = seconds(end - begin);
    phases_[std::size_t(phase)] += spent;
    if (phase == Phase::transfer_to_device) transfer_s_ = spent;
    if (row.metric) engine_.metrics().add(*row.metric, spent, end);
    add_span({TrackKind::trainer}, phase_names_[std::size_t(phase)], begin, end, step_ + 1);
}

void Explainer::compiled(const std::string& program, const Graph& graph,
                         const Executable& executable) {
    const CompileRecord& record = engine_.last_compile();
    late_compiles_ += record.after_warm_up ? 1 : 0;
    if (record.repeated || options_.folder.empty()) return;
    const Program& lowered = engine_.program(executable);
    const Json summary = graph_summary(program, record, graph, lowered, engine_.memory(executable));
    graphs_.push_back(summary);
    make_folders(options_.folder);
    write_graph_files(options_.folder / "graphs" / to_hex(record.hash),
                      graph_page(summary, graph, lowered), graph, executable);
}

/// The page, and what other tools read: the graph as traced for compilers, and as it runs, each
/// kernel in a frame, for people.
void Explainer::write_graph_files(const fs::path& base, const Json& page, const Graph& graph,
                                  const Executable& executable) const {
    const Graph& runs = engine_.optimized(executable);
    const DotFrames kernels = fuse(runs, analyse(runs)).cluster_of;
    write_file_aside(fs::path(base) += ".mlir", print_stablehlo(graph, engine_.cores()));
    write_file_aside(fs::path(base) += ".dot", print_dot(runs, kernels));
    write_file_aside(fs::path(base) += ".json", page.dump());
}

bool Explainer::wants_timeline() const {
    return steps_here_ % steps_per_timeline == 1 || (steps_here_ > 1 && timelines_ == 0);
}

/// Kernels are those of the program that runs from here on.
void Explainer::note_workers() {
    const std::vector<std::optional<int>>& cpus = engine_.worker_cpus();
    std::ranges::copy(cpus, worker_cpus_.begin());
    const int chosen = engine_.worker_choice().chosen();
    if (chosen == chosen_workers_) return;
    if (chosen_workers_ != 0) {
        kernels_.clear();
        timelines_ = 0;
    }
    chosen_workers_ = chosen;
}

void Explainer::ran(const Executable& executable, const ReadSpan& read) {
    const RunTimes& times = engine_.times();
    const Program& program = engine_.program(executable);
    add_times(times);
    // The engine binds arrays before it runs them: a transfer, though its caller sees a run.
    const double binding_s = engine_.binding_s(), changing_s = engine_.changing_s();
    phases_[std::size_t(Phase::execute)] -= binding_s + changing_s;
    phases_[std::size_t(Phase::transfer_to_device)] += binding_s;
    phases_[std::size_t(Phase::compile)] += changing_s;
    note_workers();
    engine_.metrics().add(Metric::transfer_to_device_time, transfer_s_ + binding_s, times.end);
    input_.samples += read.samples;
    input_.read_s += seconds(read.end - read.begin);
    add_span({TrackKind::loader, read.thread}, read_name_, read.begin, read.end, read.number);
    if (!times.timeline) return;
    keeps_timeline_ = true;
    if (writes()) add_spans(program, times);
    kernels_[&program].add(program, times);
}

void Explainer::stepped(std::int64_t step) {
    step_ = step;
    ++steps_here_;
    if (keeps_timeline_) ++timelines_;
    keeps_timeline_ = false;
}

std::vector<KernelTime> Explainer::kernels() const {
    std::vector<KernelTime> all;
    if (timelines_ == 0) return all;
    for (const auto& [program, times] : kernels_) {
        const double runs = double(times.runs()) / double(timelines_);    // in one step
        for (KernelTime kernel : times.slowest(*program)) {
            kernel.calls = std::llround(double(kernel.calls) * runs);
            kernel.bytes = std::llround(double(kernel.bytes) * runs);
            kernel.seconds *= runs;
            all.push_back(std::move(kernel));
        }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &KernelTime::seconds);
    return all;
}

void Explainer::add_times(const RunTimes& times) {
    for (std::size_t i = 0; i < times.workers.size(); ++i) {
        const WorkerTimes& worker = times.workers[i];
        workers_[i].running += seconds(worker.end - worker.begin);
        workers_[i].waiting += seconds(worker.waiting);
        workers_[i].reducing += seconds(worker.reducing);
        part_busy_s_.resize(worker.cores.size());
        for (std::size_t part = 0; part < worker.cores.size(); ++part)
            part_busy_s_[part] += seconds(worker.cores[part]);
    }
}

/// For the trace: half a megabyte that a run without one has no use for.
void Explainer::add_span(Track track, std::uint32_t name, Tick begin, Tick end,
                         std::int64_t number) {
    if (writes()) timeline_.add(track, name, begin, end, number);
}

void Explainer::add_spans(const Program& program, const RunTimes& times) {
    for (std::size_t i = 0; i < times.workers.size(); ++i) {
        const Track track{TrackKind::worker, int(i)};
        add_span(track, step_name_, times.workers[i].begin, times.workers[i].end, step_ + 1);
        for (const StepSpan& span : times.workers[i].steps)
            add_span(track, timeline_.name(program.steps[span.step].name), span.begin, span.end,
                     span.core);
        for (const SumSpan& span : times.workers[i].sums)
            add_span(track, sum_name_, span.begin, span.end);
    }
    for (const SumSpan& span : times.exchanges)
        add_span({TrackKind::exchange, 0}, sum_name_, span.begin, span.end);
}

void Explainer::loss(double value) {
    if (first_loss_ == 0) first_loss_ = value;
    last_loss_ = value;
}

void Explainer::epoch(const EpochSummary& summary) {
    if (epochs_.size() == epochs_max) epochs_.erase(epochs_.begin());
    epochs_.push_back(summary);
}

bool Explainer::due() const {
    return writes() && clock_.tick() >= next_write_;
}

void Explainer::write(bool finished) {
    if (!writes()) return;
    const Tick begin = clock_.tick();
    next_write_ = begin + write_every;    // also when it fails
    make_folders(options_.folder);
    const ReportFacts found = facts(finished);
    write_file_aside(options_.folder / "graphs.json", graphs_.dump());
    write_file_aside(options_.folder / "report.txt", report_text(found, engine_.metrics()));
    write_file_aside(options_.folder / "trace.json", timeline_.chrome_trace());
    write_file_aside(options_.folder / "report.json", report_json(found, engine_.metrics()).dump());
    const Tick end = clock_.tick();
    next_write_ = std::max<Tick>(next_write_, end + (end - begin) * writes_share);
}

ReportFacts Explainer::facts(bool finished) const {
    ReportFacts facts;
    facts.attempt = options_.attempt;
    facts.step = step_;
    facts.finished = finished;
    facts.wall_s = seconds(clock_.tick() - options_.started);
    facts.cpu_s = cpu_seconds() - cpu_begin_s_;
    facts.phases = phases_;
    facts.input = input_;
    facts.input.threads = options_.loader_threads;
    if (options_.augments) facts.input.augmented = input_.samples;
    if (options_.decoded) facts.input.decoded = options_.decoded();
    facts.workers = workers_;
    facts.worker_cpus = worker_cpus_;
    const WorkerChoice& choice = engine_.worker_choice();
    facts.threads = {.granted = engine_.workers(),
                     .used = choice.granted() > 1 ? choice.chosen() : engine_.workers(),
                     .reason = choice.why()};
    facts.instruction_set = to_string(instruction_set());
    for (std::size_t part = 0; part < part_busy_s_.size(); ++part) {
        const int core = options_.first_core + int(part) / options_.parts_per_core;
        facts.core_busy_s[core] += part_busy_s_[part];
    }
    facts.kernels = kernels();
    facts.timelines = timelines_;
    facts.late_compiles = late_compiles_;
    if (options_.cache != nullptr) facts.cache = counts_of(*options_.cache);
    facts.graphs = graphs_;
    facts.epochs = epochs_;
    facts.bottleneck = options_.bottleneck;
    facts.bottleneck.first_loss = first_loss_;
    facts.bottleneck.last_loss = last_loss_;
    return facts;
}

}    // namespace slipway
