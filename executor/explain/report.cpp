#include "executor/explain/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "api/base/metric_value.h"
#include "api/base/plural.h"
#include "executor/explain/graph_page.h"
#include "executor/measure/text.h"

namespace slipway {

namespace {

constexpr std::size_t kernels_max = 30;
constexpr std::size_t epochs_shown_max = 20;
constexpr double compiles_per_step_max = 0.1;

struct KernelShares {
    double memory = 0;           ///< of all kernels' time
    double shared_memory = 0;    ///< of the memory kernels' time, replicated
};

KernelShares kernel_shares(const std::vector<KernelTime>& kernels) {
    double total = 0, memory = 0, shared = 0;
    for (const KernelTime& kernel : kernels) {
        total += kernel.seconds;
        if (kernel.arithmetic) continue;
        memory += kernel.seconds;
        if (!kernel.per_core) shared += kernel.seconds;
    }
    return {.memory = total > 0 ? memory / total : 0,
            .shared_memory = memory > 0 ? shared / memory : 0};
}

/// Of the steps' seconds those in which a worker does not compute, on average: it has not begun
/// yet, waits for others or adds up. Worker 0 runs each step, the others may not.
double sync_seconds(const std::vector<WorkerSeconds>& workers, double execute_s) {
    if (workers.empty() || workers.front().running <= 0) return 0;
    double computing_s = 0, running_s = 0;
    for (const WorkerSeconds& worker : workers) {
        computing_s += worker.running - worker.waiting - worker.reducing;
        running_s += worker.running;
    }
    const double workers_on_average = running_s / workers.front().running;
    return std::max(0.0, execute_s - computing_s / workers_on_average);
}

/// All of the CPU time, spent on whatever, against the time that workers alone computed: above the
/// truth, so that nobody is blamed without a cause.
double cpu_share(const ReportFacts& facts) {
    double computing_s = 0;
    for (const WorkerSeconds& worker : facts.workers)
        computing_s += worker.running - worker.waiting;
    return computing_s > 0 ? std::min(1.0, facts.cpu_s / computing_s) : 1.0;
}

double other_seconds(const ReportFacts& facts) {
    return std::max(0.0,
                    facts.wall_s - std::accumulate(facts.phases.begin(), facts.phases.end(), 0.0));
}

std::vector<std::string> notes_of(const ReportFacts& facts, const Metrics& metrics) {
    std::vector<std::string> notes;
    const std::int64_t compiles = metrics.at(Counter::uncached_compile);
    const std::int64_t steps = metrics.at(Counter::mark_step);
    if (compiles > 2 && double(compiles) > compiles_per_step_max * double(steps)) {
        notes.push_back(
            fmt::format("CompileTime too frequent: {} counts during {} steps", compiles, steps));
    }
    if (facts.late_compiles > 0) {
        notes.push_back(fmt::format("{} compiles after warm-up: shapes changed while training",
                                    facts.late_compiles));
    }
    if (cpu_share(facts) < 0.8) {
        notes.push_back(
            fmt::format("the threads got a CPU for only {:.0f} % of their work: other "
                        "programs use the CPUs",
                        100 * cpu_share(facts)));
    }
    const double traced = metrics.at(Metric::trace_time).total();
    const double executed = metrics.at(Metric::execute_time).total();
    if (metrics.at(Metric::trace_time).count() > 2 && traced > 0.2 * executed) {
        notes.push_back(fmt::format("tracing bound: TraceTime is {:.0f} % of ExecuteTime",
                                    100 * traced / executed));
    }
    if (facts.bottleneck.widens_bf16) {
        notes.push_back(
            "this CPU has no instructions that multiply bf16: a step in f32 may take as little as "
            "half the time");
    }
    return notes;
}

Json metric_json(const MetricRow& row, const MeasurementSummary& summary) {
    Json at = Json::object();
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        at[fmt::to_string(percentiles[i])] = summary.at[i];
    return {{"name", row.name},
            {"unit", row.unit == Unit::seconds ? "s" : ""},
            {"samples", summary.count},
            {"total", summary.total},
            {"value_rate", summary.value_rate},
            {"rate", summary.rate},
            {"percentiles", std::move(at)}};
}

Json phases_json(const ReportFacts& facts) {
    Json phases = Json::object();
    for (const PhaseRow& row : phase_rows())
        phases[std::string(row.name)] = at(facts.phases, row.phase);
    phases["other"] = other_seconds(facts);
    return phases;
}

Json cores_json(const ReportFacts& facts) {
    Json cores = Json::array();
    const double execute_s = at(facts.phases, Phase::execute);
    for (const auto& [core, busy_s] : facts.core_busy_s)
        cores.push_back({{"core", core},
                         {"busy_s", busy_s},
                         {"busy_share", execute_s > 0 ? busy_s / execute_s : 0.0}});
    return cores;
}

Json cpu_json(const ReportFacts& facts, std::size_t worker) {
    if (worker >= facts.worker_cpus.size() || !facts.worker_cpus[worker]) return {};
    return *facts.worker_cpus[worker];
}

Json workers_json(const ReportFacts& facts) {
    Json workers = Json::array();
    for (std::size_t i = 0; i < facts.workers.size(); ++i)
        workers.push_back({{"worker", i},
                           {"cpu", cpu_json(facts, i)},
                           {"running_s", facts.workers[i].running},
                           {"waiting_s", facts.workers[i].waiting},
                           {"reducing_s", facts.workers[i].reducing}});
    return workers;
}

Json shares_json(const TimeShares& shares) {
    return {{"compile", shares.compile}, {"input", shares.input},   {"transfer", shares.transfer},
            {"sync", shares.sync},       {"memory", shares.memory}, {"compute", shares.compute}};
}

}    // namespace

TimeShares time_shares(const ReportFacts& facts) {
    const double compile = at(facts.phases, Phase::trace) + at(facts.phases, Phase::compile);
    const double input = at(facts.phases, Phase::input_wait);
    const double transfer =
        at(facts.phases, Phase::transfer_to_device) + at(facts.phases, Phase::transfer_from_device);
    const double execute = at(facts.phases, Phase::execute);
    const double total = compile + input + transfer + execute;
    if (total <= 0) return {};
    const double sync = sync_seconds(facts.workers, execute);
    const double memory = (execute - sync) * kernel_shares(facts.kernels).memory;
    return {.compile = compile / total,
            .input = input / total,
            .transfer = transfer / total,
            .sync = sync / total,
            .memory = memory / total,
            .compute = (execute - sync - memory) / total};
}

Verdict verdict_of(const ReportFacts& facts) {
    BottleneckInputs bottleneck = facts.bottleneck;
    bottleneck.late_compiles = facts.late_compiles;
    bottleneck.cpu_share = cpu_share(facts);
    bottleneck.workers = facts.threads.used;
    bottleneck.shared_memory_share = kernel_shares(facts.kernels).shared_memory;
    return judge(time_shares(facts), bottleneck);
}

namespace {

Json input_json(const InputCounts& input) {
    return {{"threads", input.threads},
            {"samples", input.samples},
            {"augmented", input.augmented},
            {"decoded", input.decoded},
            {"read_s", input.read_s}};
}

}    // namespace

namespace {

Json epochs_json(const std::vector<EpochSummary>& epochs) {
    Json list = Json::array();
    for (const EpochSummary& epoch : epochs) {
        Json one{{"epoch", epoch.epoch},     {"step", epoch.step},
                 {"train_s", epoch.train_s}, {"evaluate_s", epoch.evaluate_s},
                 {"samples", epoch.samples}, {"samples_per_s", epoch.samples_per_s}};
        put_named_values(one, epoch.values);
        list.push_back(std::move(one));
    }
    return list;
}

}    // namespace

Json report_json(const ReportFacts& facts, const Metrics& metrics) {
    Json metric_list = Json::array();
    for (const MetricRow& row : metric_rows())
        metric_list.push_back(metric_json(row, metrics.at(row.metric).summary()));
    Json counters = Json::object();
    for (const CounterRow& row : counter_rows())
        counters[std::string(row.name)] = metrics.at(row.counter);
    const Verdict verdict = verdict_of(facts);
    return {{"attempt", facts.attempt},
            {"step", facts.step},
            {"finished", facts.finished},
            {"wall_s", facts.wall_s},
            {"cpu_s", facts.cpu_s},
            {"verdict",
             {{"kind", verdict.kind},
              {"field", verdict.field},
              {"message", verdict.message},
              {"shares", shares_json(time_shares(facts))}}},
            {"phases", phases_json(facts)},
            {"input", input_json(facts.input)},
            {"cores", cores_json(facts)},
            {"instruction_set", facts.instruction_set},
            {"threads",
             {{"granted", facts.threads.granted},
              {"used", facts.threads.used},
              {"reason", facts.threads.reason}}},
            {"workers", workers_json(facts)},
            {"metrics", std::move(metric_list)},
            {"counters", std::move(counters)},
            {"kernels", kernels_json(facts.kernels, kernels_max)},
            {"timelines", facts.timelines},
            {"compile_cache", facts.cache.empty() ? Json() : Json(facts.cache)},
            {"graphs", facts.graphs},
            {"epochs", epochs_json(facts.epochs)},
            {"notes", notes_of(facts, metrics)}};
}

std::string report_text(const ReportFacts& facts, const Metrics& metrics) {
    const Verdict verdict = verdict_of(facts);
    std::string text = fmt::format("Verdict: {}\n  Field: {}\n\n", verdict.message, verdict.field);
    const auto out = std::back_inserter(text);
    text += metrics_text(metrics);
    fmt::format_to(out, "\nPhases of {:.3f} s (attempt {}, step {}):\n", facts.wall_s,
                   facts.attempt, facts.step);
    for (const PhaseRow& row : phase_rows())
        fmt::format_to(out, "  {:22} {:10.3f} s\n", row.name, at(facts.phases, row.phase));
    fmt::format_to(out, "  {:22} {:10.3f} s\n", "other", other_seconds(facts));
    const InputCounts& input = facts.input;
    fmt::format_to(out, "Input: {} read in {:.3f} s of {}, {} augmented; {} decoded\n",
                   counted(input.samples, "sample"), input.read_s, counted(input.threads, "thread"),
                   input.augmented, counted(input.decoded, "image"));
    fmt::format_to(out, "Instruction set: {}\nWorker threads: {}\n", facts.instruction_set,
                   facts.threads.reason.empty()
                       ? fmt::format("{} of {}", facts.threads.used, facts.threads.granted)
                       : facts.threads.reason);
    const double execute_s = at(facts.phases, Phase::execute);
    for (const auto& [core, busy_s] : facts.core_busy_s)
        fmt::format_to(out, "Core {}: busy {:.3f} s, {:.0f} % of the steps' time\n", core, busy_s,
                       execute_s > 0 ? 100 * busy_s / execute_s : 0.0);
    if (!facts.kernels.empty()) fmt::format_to(out, "Kernels of a training step:\n");
    for (std::size_t i = 0; i < std::min<std::size_t>(10, facts.kernels.size()); ++i) {
        const KernelTime& kernel = facts.kernels[i];
        fmt::format_to(out, "  {:10.1f} us {:5} calls  {}\n", kernel.seconds * 1e6, kernel.calls,
                       kernel.name);
    }
    const std::size_t shown = std::min(epochs_shown_max, facts.epochs.size());
    if (shown > 0) fmt::format_to(out, "The last {}:\n", counted(shown, "epoch"));
    for (const EpochSummary& epoch : std::span(facts.epochs).last(shown))
        fmt::format_to(out, "  {}\n", describe(epoch));
    for (const std::string& note : notes_of(facts, metrics))
        fmt::format_to(out, "Note: {}\n", note);
    return text;
}

}    // namespace slipway
