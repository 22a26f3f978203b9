#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/json.h"
#include "api/protocol/run_position.h"
#include "executor/engine/engine.h"
#include "executor/explain/kernels.h"
#include "executor/explain/report.h"
#include "executor/explain/timeline.h"

namespace slipway {

struct ExplainOptions {
    std::filesystem::path
        folder;    ///< gets report, graphs and trace; made when absent. Empty: none
    int attempt = 1;
    Tick started{};                 ///< when the job's work began; the trace's zero
    int parts_per_core = 1;         ///< how many of the engine's cores are one of the job's
    int first_core = 1;             ///< the number of the first core, for people
    BottleneckInputs bottleneck;    ///< what is known from the spec
    int loader_threads = 1;
    bool augments = false;
    std::function<std::int64_t()> decoded = {};    ///< images so far; none: they are no images
    const ObjectCache* cache = nullptr;    ///< whose counts are shown; outlives the explainer
    RunPosition* position = nullptr;       ///< gets each phase that begins; outlives the explainer
};

/// When and by whom a batch was read.
struct ReadSpan {
    Tick begin{}, end{};
    int thread = 0;
    std::int64_t number = 0;
    std::int64_t samples = 0;
};

/// Watches one training run and writes, into its folder, where the time goes:
///   report.json, report.txt   metrics, phases, cores, kernels, verdict
///   graphs.json               every program made; graphs/HASH.json in full, .mlir as StableHLO,
///                             .dot as a drawing
///   trace.json                a timeline for chrome://tracing and Perfetto
/// Measuring costs well below 1 % of a step. The training thread's own.
class Explainer {
public:
    /// `engine` and `clock` outlive the explainer.
    Explainer(Engine& engine, ExplainOptions options, const Clock& clock);

    /// Measures one phase from here to the end of its life.
    class [[nodiscard]] Timed {
    public:
        Timed(Explainer& explainer, Phase phase)
            : explainer_(explainer), phase_(phase), begin_(explainer.clock_.tick()) {
            explainer.entered(phase);
        }
        ~Timed() { explainer_.ended(phase_, begin_, explainer_.clock_.tick()); }
        Timed(const Timed&) = delete;
        Timed& operator=(const Timed&) = delete;

    private:
        Explainer& explainer_;
        const Phase phase_;
        const Tick begin_;
    };
    Timed time(Phase phase) { return Timed(*this, phase); }
    void entered(Phase phase);
    /// A phase that was measured elsewhere.
    void ended(Phase phase, Tick begin, Tick end);

    /// Training goes on from here.
    void begin_at(std::int64_t step) { step_ = step; }
    /// The engine's last compile() made or found this program.
    void compiled(const std::string& program, const Graph& graph, const Executable& executable);
    /// The step that comes should keep its timeline: the second of training, then every 64th.
    bool wants_timeline() const;
    /// A program of a training step has run on a batch: the engine's times are of it. Most steps
    /// are one program; one that adds up the gradients of several batches runs one for each.
    void ran(const Executable& executable, const ReadSpan& read);
    /// All of a training step's programs have run.
    void stepped(std::int64_t step);

    /// The training loss of a step, of which the verdict compares the first and the newest.
    void loss(double value);

    /// An epoch has ended: the report has the newest ones.
    void epoch(const EpochSummary& summary);

    /// Whether it has a folder to write to.
    bool writes() const { return !options_.folder.empty(); }
    /// Something new was written a while ago.
    bool due() const;
    /// errors  throws exhausted or unavailable when the files cannot be written
    void write(bool finished);

    Verdict verdict() const { return verdict_of(facts(true)); }

private:
    ReportFacts facts(bool finished) const;
    /// What ran in a training step, slowest first.
    std::vector<KernelTime> kernels() const;
    void write_graph_files(const std::filesystem::path& base, const Json& page, const Graph& graph,
                           const Executable& executable) const;
    void note_workers();
    void add_times(const RunTimes& times);
    void add_span(Track track, std::uint32_t name, Tick begin, Tick end, std::int64_t number = -1);
    void add_spans(const Program& program, const RunTimes& times);

    Engine& engine_;
    const ExplainOptions options_;
    const Clock& clock_;
    const double cpu_begin_s_;
    Timeline timeline_;
    std::array<std::uint32_t, phase_count> phase_names_{};    // in timeline_
    const std::uint32_t read_name_, step_name_, sum_name_;    // in timeline_
    PhaseSeconds phases_{};
    std::int64_t step_ = 0;
    std::int64_t steps_here_ = 0;    // of this attempt
    double transfer_s_ = 0;          // of the last step's inputs
    std::int64_t late_compiles_ = 0;
    double first_loss_ = 0, last_loss_ = 0;    // of training steps here
    InputCounts input_;
    std::vector<WorkerSeconds> workers_;
    std::vector<std::optional<int>> worker_cpus_;      // where each was kept last
    int chosen_workers_ = 0;                           // 0: nothing has run
    std::vector<double> part_busy_s_;                  // by the engine's core
    std::map<const Program*, KernelTimes> kernels_;    // the engine keeps the programs
    std::int64_t timelines_ = 0;                       // steps that kernels_ are of
    bool keeps_timeline_ = false;                      // in the step under way
    Json graphs_;
    std::vector<EpochSummary> epochs_;
    Tick next_write_{};
};

}    // namespace slipway
