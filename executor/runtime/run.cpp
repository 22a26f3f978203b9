// Every worker runs the whole program: the stages in order, a barrier after each. In a stage of
// per-core work a worker runs the cores of its blocks, one after the other, and adds their
// contributions as it goes, by the tree of reduction_tree.h: with at most as many partial sums
// as the tree is deep. A program that asks for it has each step run for all cores of a block before
// the next (Program::replicas_together). The roots of the blocks are then combined by all workers,
// each a range of elements. What batches the cores of a block (decision 0062) comes after it. A
// thread of its own combines sums with those of other processes (exchange.h) as they are complete,
// and a step that reads one waits for it (decisions 0029, 0056). Updates of large weights are run
// for this process's shard of the elements alone, and what they write is gathered behind them
// (0079). In a replicated stage a step is either cut by elements, or one worker's, as the plan says
// (run_plan.cpp); it waits at a barrier only where the plan found a collision. Whoever comes last
// to a barrier does what is too small to be divided, before the others go on. Bits do not
// depend on the number of workers: the tree is over the numbers of cores, and a cut never splits
// a sum. An error of a kernel is kept, and the worker goes on to every barrier, so that nobody
// waits for ever.
#include "executor/runtime/run.h"

#include <algorithm>
#include <mutex>
#include <span>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "executor/runtime/bf16_sums.h"
#include "executor/runtime/buffer_addresses.h"
#include "executor/runtime/cpus.h"
#include "executor/runtime/exchange.h"
#include "executor/runtime/flush_denormals.h"
#include "executor/runtime/process_sums.h"
#include "executor/runtime/reduction_tree.h"
#include "executor/runtime/run_checks.h"
#include "executor/runtime/run_memory.h"
#include "executor/runtime/step_at_work.h"
#include "executor/runtime/workers.h"

namespace slipway {

namespace {

/// The step whose kernel threw first; the runs of all workers write here.
struct FirstFailure {
    std::mutex mutex;
    std::optional<FailedStep> step;    ///< guarded by mutex

    void note(const Step& failed, int replica) {
        const std::lock_guard lock(mutex);
        if (!step) step = FailedStep{.name = failed.name, .replica = replica};
    }
};

struct Run {
    const Program& program;
    const RunPlan& plan;
    const Bindings& bindings;
    RunMemory& memory;
    Workers& workers;
    RunTimes& times;
    Exchange* exchange;           ///< null: no other process
    const Collectives* others;    ///< null: likewise
    FirstFailure& failure;
};

Tick now() {
    return system_clock().tick();
}

/// One worker's run of the program.
class WorkerRun {
public:
    WorkerRun(const Run& run, int worker)
        : run_(run),
          worker_(worker),
          times_(run.times.workers[std::size_t(worker)]),
          core_count_(cores()),
          buffers_{run.program, run.plan, run.bindings, run.memory, worker},
          addresses_(run.program.buffers.size()) {}

    void operator()() {
        const FlushDenormals flush;
        begin_times();
        const std::vector<Stage>& stages = run_.program.stages;
        for (std::size_t i = 0, next = 0; i < stages.size(); i = next) {
            if (stages[i].per_core)
                run_cores(stages[i]);
            else
                run_once(stages[i]);
            for (next = i + 1; next < stages.size() && plan_of(stages[next]).runs_at_barrier;)
                ++next;
            wait_at_barrier([&] { finish(i, next); });
        }
        times_.end = now();
    }

private:
    void begin_times() {
        times_.begin = now();
        times_.waiting = times_.reducing = times_.awaiting = {};
        std::ranges::fill(times_.cores, std::chrono::nanoseconds(0));
        times_.steps.clear();
        times_.sums.clear();
    }

    RunPlan::StagePlan plan_of(const Stage& stage) const {
        if (run_.exchange != nullptr) return {};
        return run_.plan.stages[std::size_t(&stage - run_.program.stages.data())];
    }

    /// What is left of a stage, and the stages from there to `next`, on this worker alone.
    void finish(std::size_t done, std::size_t next) {
        const std::vector<Stage>& stages = run_.program.stages;
        if (plan_of(stages[done]).adds_at_barrier) combine_blocks(stages[done], false, 0, 1);
        for (std::size_t i = done + 1; i < next; ++i)
            run_once(stages[i]);
    }

    void wait_at_barrier() {
        wait_at_barrier([] {});
    }

    template <class Work>
    void wait_at_barrier(const Work& work) {
        if (run_.workers.count() == 1) return;
        const Tick begin = now();
        std::chrono::nanoseconds worked{};
        run_.workers.barrier().arrive_and_wait([&] {
            const Tick last = now();
            work();
            worked = now() - last;
        });
        times_.waiting += now() - begin - worked;
    }

    void reduced(Tick begin) {
        const Tick end = now();
        times_.reducing += end - begin;
        if (run_.times.timeline) times_.sums.push_back({begin, end});
    }

    void run_cores(const Stage& stage) {
        const std::vector<CoreBlock>& blocks = run_.plan.blocks;
        for (std::size_t block = 0; block < blocks.size(); ++block) {
            if (blocks[block].worker != worker_) continue;
            if (run_.program.replicas_together > 1) {
                run_.workers.guarded([&] { run_together(stage, block); });
                continue;
            }
            for (int index = 0; index < blocks[block].count; ++index)
                run_.workers.guarded([&] { run_core(stage, block, index); });
        }
        add_up(stage, false);
        if (stage.block_step_count > 0) run_block_steps(stage);
        add_up(stage, true);
    }

    /// What the blocks have of the stage's sums of this kind; then it may go to other processes.
    void add_up(const Stage& stage, bool by_block) {
        const bool some = std::ranges::count(stage.sums, by_block, &Sum::by_block) > 0;
        const std::size_t roots = by_block ? std::size_t(cores() + block_cores - 1) / block_cores
                                           : run_.plan.blocks.size();
        if (some && roots > 1 && !plan_of(stage).adds_at_barrier) {
            wait_at_barrier();
            combine_blocks(stage, by_block, worker_, run_.workers.count());
        }
        arrive([&](const ExchangePart& part) {
            return &run_.program.stages[part.stage] == &stage && part.by_block == by_block;
        });
    }

    /// This worker has done what it does for the next parts, as far as they are such.
    template <class Fits>
    void arrive(const Fits& fits) {
        if (run_.exchange == nullptr) return;
        const std::vector<ExchangePart>& parts = run_.plan.exchange.parts;
        for (; next_part_ < parts.size() && fits(parts[next_part_]); ++next_part_) {
            if (run_.workers.failed()) run_.exchange->give_up();
            run_.exchange->arrive(next_part_);
        }
    }

    /// Until the sums of other processes that the step reads have come.
    void await(std::size_t step) {
        if (run_.exchange == nullptr) return;
        const std::uint32_t needed = run_.plan.exchange.needed[step];
        if (needed <= come_) return;
        const Tick begin = now();
        run_.exchange->wait_for(needed);
        come_ = needed;
        times_.awaiting += now() - begin;
        reduced(begin);
    }

    void run_core(const Stage& stage, std::size_t block_number, int index) {
        const CoreBlock& block = run_.plan.blocks[block_number];
        const Tick begin = now();
        const auto awaited = times_.awaiting;
        core_ = block.first + index;
        buffers_.all_of(std::size_t(core_), addresses_);
        for (const Sum& sum : stage.sums)
            addresses_[sum.buffer] = buffers_.partial(sum, block_number, partial_of(index));
        for (std::size_t i = 0; i < stage.step_count - stage.block_step_count; ++i) {
            const Step& step = run_.program.steps[stage.first_step + i];
            run_step(step, step.kernel, {0, step.elements});
        }
        const Tick end = now();
        times_.cores[std::size_t(core_)] += end - begin - (times_.awaiting - awaited);
        core_ = -1;
        if (stage.sums.empty()) return;
        for (const Sum& sum : stage.sums)
            if (!sum.by_block) merge_partials(sum, block_number, index);
        reduced(end);
    }

    /// Adds up what can be when core `index` of the block has contributed.
    void merge_partials(const Sum& sum, std::size_t block_number, int index) {
        int last = partial_of(index);
        const int count = run_.plan.blocks[block_number].count;
        for (int merge = merges_after(index, count); merge > 0; --merge, --last) {
            const Shape& shape = run_.program.buffers[sum.buffer].shape;
            combine(sum.combine, shape.dtype, buffers_.partial(sum, block_number, last - 1),
                    buffers_.partial(sum, block_number, last), 0, shape.element_count());
        }
    }

    /// Step by step, or several in one go, for all cores of the block.
    void run_together(const Stage& stage, std::size_t block_number) {
        const CoreBlock& block = run_.plan.blocks[block_number];
        const std::size_t stage_end = stage.first_step + stage.step_count - stage.block_step_count;
        for (std::size_t first = stage.first_step, end = first; first < stage_end; first = end) {
            const Step& step = run_.program.steps[first];
            end = first + 1;
            while (end < stage_end && run_.program.steps[end].continues)
                ++end;
            await(first);
            const Tick begin = now();
            const auto awaited = times_.awaiting;
            if (step.together && block.count == run_.program.replicas_together) {
                core_ = block.first;
                bind_operands(step, std::size_t(core_));
                run_step(step, step.together, {0, step.elements});
            } else {
                for (int index = 0; index < block.count; ++index)
                    for (std::size_t i = first; i < end; ++i)
                        run_one_of(stage, run_.program.steps[i], block_number, index);
            }
            const auto share = (now() - begin - (times_.awaiting - awaited)) / block.count;
            for (int index = 0; index < block.count; ++index)
                times_.cores[std::size_t(block.first) + std::size_t(index)] += share;
        }
        core_ = -1;
    }

    /// One core's run of a step. Its contribution to a sum is added up at once, so that the next
    /// core's has a place.
    void run_one_of(const Stage& stage, const Step& step, std::size_t block_number, int index) {
        core_ = run_.plan.blocks[block_number].first + index;
        bind_operands(step, std::size_t(core_));
        const auto number = std::size_t(&step - run_.program.steps.data());
        const std::vector<std::size_t>& contributions = run_.plan.contributions[number];
        for (const std::size_t sum : contributions)
            addresses_[stage.sums[sum].buffer] =
                buffers_.partial(stage.sums[sum], block_number, partial_of(index));
        run_step(step, step.kernel, {0, step.elements});
        for (const std::size_t sum : contributions)
            merge_partials(stage.sums[sum], block_number, index);
    }

    void bind_operands(const Step& step, std::size_t core) {
        for (const auto* ids : {&step.reads, &step.writes})
            for (const BufferId id : *ids)
                addresses_[id] = buffers_.of(id, core);
    }

    /// What a step with elements makes is cut among the workers; another one waits for it, and has
    /// one worker for each block. A block's first core holds what one step leaves to the next
    /// (region core), which nobody touches before all workers have come so far.
    void run_block_steps(const Stage& stage) {
        wait_at_barrier();
        const std::size_t end = stage.first_step + stage.step_count;
        for (std::size_t i = end - stage.block_step_count; i < end; ++i) {
            const Step& step = run_.program.steps[i];
            if (step.elements == 0 || shares_memory(stage, step)) wait_at_barrier();
            for (int first = 0; first < cores(); first += block_cores) {
                if (step.elements == 0 && first / block_cores % run_.workers.count() != worker_)
                    continue;
                bind_block(stage, first);
                const ElementRange range =
                    part_of({0, step.elements}, worker_, run_.workers.count(), 1);
                run_.workers.guarded([&] {
                    run_step(step, step.kernel, step.elements == 0 ? ElementRange{} : range);
                });
            }
            arrive_after(i);
        }
        first_core_ = 0;
        core_count_ = cores();
    }

    /// Whether it touches memory of a block that a block step writes.
    bool shares_memory(const Stage& stage, const Step& step) const {
        const auto is_left = [&](BufferId id) {
            if (run_.program.buffers[id].region != Region::core) return false;
            const std::size_t end = stage.first_step + stage.step_count;
            for (std::size_t i = end - stage.block_step_count; i < end; ++i)
                if (std::ranges::count(run_.program.steps[i].writes, id) > 0) return true;
            return false;
        };
        return std::ranges::any_of(step.reads, is_left) ||
               std::ranges::any_of(step.writes, is_left);
    }

    void bind_block(const Stage& stage, int first) {
        first_core_ = first;
        core_count_ = std::min(block_cores, cores() - first);
        buffers_.all_of(std::size_t(first), addresses_);
        const auto root = std::ranges::find(run_.plan.blocks, first, &CoreBlock::first);
        for (const Sum& sum : stage.sums)
            addresses_[sum.buffer] =
                buffers_.partial(sum, std::size_t(root - run_.plan.blocks.begin()), 0);
    }

    int cores() const { return int(run_.memory.core.size()); }

    /// Part `part` of `parts` of the elements.
    void combine_blocks(const Stage& stage, bool by_block, int part, int parts) {
        const Tick begin = now();
        run_.workers.guarded([&] { combine_roots_of(stage, by_block, part, parts); });
        reduced(begin);
    }

    void combine_roots_of(const Stage& stage, bool by_block, int part, int parts) {
        std::vector<std::byte*> roots;
        for (const Sum& sum : stage.sums) {
            if (sum.by_block != by_block) continue;
            roots.clear();
            for (std::size_t block = 0; block < run_.plan.blocks.size(); ++block)
                if (!sum.by_block || run_.plan.blocks[block].first % block_cores == 0)
                    roots.push_back(buffers_.partial(sum, block, 0));
            const Shape& shape = run_.program.buffers[sum.buffer].shape;
            const ElementRange range = part_of({0, shape.element_count()}, part, parts);
            if (!sum.rounds_to_bf16 || cores() <= block_cores) {
                combine_roots(sum, shape.dtype, roots, range.begin, range.end);
                continue;
            }
            const int of_root = by_block ? block_cores : run_.plan.blocks.front().count;
            combine_rounded_roots(sum, roots, std::size_t(block_cores / of_root), range.begin,
                                  range.end);
            if (run_.exchange == nullptr) round_to_bf16(roots[0], range.begin, range.end);
        }
    }

    void run_once(const Stage& stage) {
        buffers_.all_of(0, addresses_);
        for (std::size_t i = 0; i < stage.step_count; ++i) {
            const std::size_t number = stage.first_step + i;
            const Step& step = run_.program.steps[number];
            const RunPlan::StepPlan& step_plan = run_.plan.steps[number];
            if (step_plan.barrier_before) wait_at_barrier();
            if (step_plan.sliced || worker_ == step_plan.worker || plan_of(stage).runs_at_barrier)
                run_.workers.guarded([&] { run_step(step, step.kernel, own_elements(number)); });
            arrive_after(number);
        }
    }

    /// This worker's of a replicated step.
    ElementRange own_elements(std::size_t number) const {
        const Step& step = run_.program.steps[number];
        ElementRange range{0, step.elements};
        if (run_.others != nullptr && run_.plan.exchange.shards.shards(number))
            range = shard_of(step.elements, run_.others->rank(), run_.others->count());
        if (!run_.plan.steps[number].sliced) return range;
        return part_of(range, worker_, run_.workers.count(),
                       step.batches_cores || step.has_coarse_elements ? 1 : line_alignment);
    }

    /// What is exchanged after a step, this worker has done its part of.
    void arrive_after(std::size_t step) {
        arrive([&](const ExchangePart& part) {
            return part.ends_with_step && part.last_step == step;
        });
    }

    void run_step(const Step& step, const Kernel& kernel, ElementRange range) {
        await(std::size_t(&step - run_.program.steps.data()));
        reads_.clear();
        writes_.clear();
        for (const BufferId id : step.reads)
            add_read(step, id);
        for (const BufferId id : step.writes)
            writes_.push_back(addresses_[id]);
        const KernelCall call{.reads = reads_,
                              .writes = writes_,
                              .begin = range.begin,
                              .end = range.end,
                              .worker = worker_};
        if (!run_.times.timeline) return call_kernel(step, kernel, call);
        const Tick begin = now();
        call_kernel(step, kernel, call);
        const auto number = std::uint32_t(&step - run_.program.steps.data());
        times_.steps.push_back({number, core_, begin, now()});
    }

    void call_kernel(const Step& step, const Kernel& kernel, const KernelCall& call) {
        step_at_work = {.name = step.name.c_str(), .replica = core_};
        try {
            kernel(call);
        } catch (const std::exception&) {
            run_.failure.note(step, core_);
            throw;    // the worker border keeps it
        }
        step_at_work = {};
    }

    void add_read(const Step& step, BufferId id) {
        const Buffer& buffer = run_.program.buffers[id];
        const bool is_each = step.batches_cores && is_per_core(run_.program, buffer);
        if (!is_each) return reads_.push_back(addresses_[id]);
        for (int core = first_core_; core < first_core_ + core_count_; ++core)
            reads_.push_back(buffers_.of(id, std::size_t(core)));
    }

    const Run& run_;
    int worker_;
    WorkerTimes& times_;
    int core_ = -1;                      ///< at work for; -1: a replicated stage, a block step
    int first_core_ = 0, core_count_;    ///< that a step batches
    std::size_t next_part_ = 0;          ///< of the exchange: that this worker arrives at
    std::uint32_t come_ = 0;             ///< parts of it that have come for sure
    const BufferAddresses buffers_;
    std::vector<std::byte*> addresses_;    ///< by buffer, for the core at hand
    std::vector<const std::byte*> reads_;
    std::vector<std::byte*> writes_;
};

/// The exchange works in this run's memory: also a run that fails lasts until it is done.
class ExchangeOfRun {
public:
    explicit ExchangeOfRun(const Run& run) : exchange_(run.exchange) {
        if (exchange_ == nullptr) return;
        exchange_->begin(values_of_parts(run.program, run.plan.exchange,
                                         {run.memory.roots.front().data(), run.bindings.inputs}),
                         run.workers.count());
    }
    ~ExchangeOfRun() {
        if (exchange_ != nullptr) exchange_->finish();
    }
    ExchangeOfRun(const ExchangeOfRun&) = delete;
    ExchangeOfRun& operator=(const ExchangeOfRun&) = delete;

private:
    Exchange* const exchange_;
};

void run_all(const Run& run) {
    const ExchangeOfRun exchange(run);
    run.workers.run([&](int worker) { WorkerRun(run, worker)(); });
    if (run.exchange != nullptr)
        run.exchange->wait_for(std::uint32_t(run.plan.exchange.parts.size()));
}

std::vector<int> cpus_of(const std::vector<CpuClaim>& claims) {
    std::vector<int> cpus;
    for (const CpuClaim& claim : claims)
        cpus.push_back(claim.cpu());
    return cpus;
}

}    // namespace

struct Runtime::Parts {
    Parts(Team a_team, const std::string& cpu_scope, Collectives* the_collectives)
        : team(a_team),
          claims(claim_cpus(cpu_scope, order_of_use(usable_cpus()), team.workers)),
          others(the_collectives),
          workers(team.workers, cpus_of(claims)) {
        if (the_collectives != nullptr) exchange.emplace(*the_collectives);
        times.workers.resize(std::size_t(team.workers));
        for (WorkerTimes& worker : times.workers)
            worker.cores.resize(std::size_t(team.cores));
    }

    const Team team;
    RunMemory memory{team};
    RunTimes times;
    FirstFailure failure;
    const std::vector<CpuClaim> claims;
    Collectives* const others;    ///< null: no other process
    // Last: joined before the memory goes.
    std::optional<Exchange> exchange;    ///< none: no other process
    Workers workers;
};

Runtime::Runtime(Team team, const std::string& cpu_scope, Collectives* collectives)
    : parts_(std::make_unique<Parts>(team, cpu_scope, collectives)) {}
Runtime::~Runtime() = default;

void Runtime::run(const Program& program, const RunPlan& plan, const Bindings& bindings,
                  bool timeline) {
    Exchange* const exchange = parts_->exchange ? &*parts_->exchange : nullptr;
    check_run(program, plan, bindings, {parts_->team, exchange != nullptr});
    parts_->memory.reserve(program);
    RunTimes& times = parts_->times;
    const Run run{program, plan,     bindings,       parts_->memory, parts_->workers,
                  times,   exchange, parts_->others, parts_->failure};
    parts_->failure.step.reset();
    times.timeline = timeline;
    times.begin = now();
    run_all(run);
    times.end = now();
    if (exchange != nullptr)
        times.exchanges.assign(exchange->spans().begin(), exchange->spans().end());
}

void Runtime::gather(const Program& program, const RunPlan& plan,
                     std::span<std::byte* const> inputs) {
    if (parts_->others == nullptr) return;
    std::vector<ProcessValues> sent;
    for (const std::size_t input : plan.exchange.shards.in_shards) {
        const Shape& shape = program.inputs[input].shape;
        sent.push_back({.dtype = shape.dtype,
                        .values = {inputs[input], std::size_t(shape.byte_count())},
                        .transfer = Transfer::gather_shards});
    }
    std::vector<std::byte> packed;
    combine_processes(*parts_->others, sent, packed);
}

std::optional<FailedStep> Runtime::failed_step() const {
    return parts_->failure.step;
}

const RunTimes& Runtime::times() const {
    return parts_->times;
}

const Team& Runtime::team() const {
    return parts_->team;
}

const std::vector<std::optional<int>>& Runtime::worker_cpus() const {
    return parts_->workers.cpus();
}

}    // namespace slipway
