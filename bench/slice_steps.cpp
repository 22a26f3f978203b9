#include <fmt/core.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/protocol/slice_memory.h"
#include "executor/bench/step.h"
#include "executor/collectives/gloo/gloo_member.h"
#include "executor/engine/engine.h"

/// One training step of sixteen virtual cores: two processes with a CPU each, which add up in
/// memory that they share or over loopback, beside one process with both, in turns, and how much of
/// the processes' exchange of gradients the workers did not wait for. Milliseconds, medians; of the
/// two processes the slower one's, but of CPU time, which a busy machine changes less, the sum of
/// both. A line:
///   bert_base f32, 16 samples: two processes 5210 ms, one 5102 ms: 1.021; CPU time 10080 and 9890
///   ms: 1.019; exchange of 438.01 MB as f32 in shared memory, 437.22 in shards, 410 ms, waited for
///   60 ms: 85 % hidden; 2 x 3011 and 3900 MB planned
/// usage: bench_slice_steps WORKLOAD [ROUNDS [BATCH [f32|bf16 [EXCHANGE [TRANSPORT [UPDATES]]]]]]
///   EXCHANGE   f32 or bf16: the type in which gradients are exchanged
///   TRANSPORT  memory or sockets
///   UPDATES    sharded or whole: whether each process updates its shard of the weights
///   Of each, both: one after the other in each round, a line for each
namespace slipway {
namespace {

constexpr int processes = 2, process_cores = 8;

struct Measurement {
    std::string workload;
    int rounds = 5;
    std::int64_t batch = 0;
    std::string precision = "f32";
    std::vector<DType> exchanges{DType::f32};
    std::vector<bool> in_memory{true};    ///< or over sockets
    std::vector<bool> shards{true};       ///< or each process updates all weights
};

/// What a round took, or one process of it.
struct Times {
    float step_ms = 0, cpu_ms = 0, exchange_ms = 0, awaiting_ms = 0, planned_mb = 0, sent_mb = 0,
          sharded_mb = 0;
};

/// A member's, with a count of the bytes that are exchanged: those of an all_reduce are sent twice,
/// those of its halves once each.
class Counted final : public Collectives {
public:
    explicit Counted(Member& counted) : counted_(&counted) {}
    /// From here on another one's. Not during a step.
    void go_through(Member& counted) { counted_ = &counted; }
    void all_reduce(Combine how, DType dtype, std::span<std::byte> values) override {
        bytes_ += values.size();
        counted_->all_reduce(how, dtype, values);
    }
    void reduce_scatter(Combine how, DType dtype,
                        std::span<const std::span<std::byte>> shards) override {
        for (const std::span<std::byte> shard : shards)
            sharded_bytes_ += shard.size();
        counted_->reduce_scatter(how, dtype, shards);
    }
    void gather_shards(std::span<const std::span<std::byte>> shards) override {
        for (const std::span<std::byte> shard : shards)
            sharded_bytes_ += shard.size();
        counted_->gather_shards(shards);
    }
    int rank() const override { return counted_->rank(); }
    int count() const override { return counted_->count(); }
    std::int64_t staging_bytes(std::int64_t value_bytes) const override {
        return counted_->staging_bytes(value_bytes);
    }
    std::size_t take_sharded() { return std::exchange(sharded_bytes_, 0) / 2; }
    std::size_t take() { return std::exchange(bytes_, 0); }

private:
    Member* counted_;    ///< outlives this
    std::size_t bytes_ = 0;
    std::size_t sharded_bytes_ = 0;
};

float milliseconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<float, std::milli>(duration).count();
}

/// Of all threads of this process so far.
float cpu_milliseconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return float(double(used.tv_sec) * 1e3 + double(used.tv_nsec) * 1e-6);
}

void stay_on(const std::vector<int>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw Error(ErrorCode::unavailable, "no such CPUs");
}

/// A step's program and its values, the part of this process.
class Trainer {
public:
    Trainer(const Measurement& measurement, int cores, std::int64_t batch, DType exchange,
            bool shards, Counted* others)
        : engine_({.cores = cores,
                   .precision = measurement.precision == "bf16" ? PrecisionPolicy::bf16
                                                                : PrecisionPolicy::f32,
                   .collectives = others}),
          others_(others) {
        BenchModel model = make_bench_model(find_workload(measurement.workload));
        const BenchStep step =
            trace_bench_step(model, batch, cores, "adamw",
                             exchange == DType::f32 ? std::nullopt : std::optional(exchange));
        executable_ =
            engine_.compile(step.graph, shards ? std::optional(step.update) : std::nullopt);
        values_ = bench_values(model, step);
    }

    Times step() {
        const Tick begin = system_clock().tick();
        const float cpu_begin = cpu_milliseconds();
        engine_.run(*executable_, values_);
        Times times{.step_ms = milliseconds(system_clock().tick() - begin),
                    .cpu_ms = cpu_milliseconds() - cpu_begin};
        times.exchange_ms = milliseconds(engine_.times().exchanging());
        for (const WorkerTimes& worker : engine_.times().workers)
            times.awaiting_ms = std::max(times.awaiting_ms, milliseconds(worker.awaiting));
        if (others_ != nullptr) {
            times.sharded_mb = float(others_->take_sharded()) * 1e-6F;
            times.sent_mb = float(others_->take()) * 1e-6F + times.sharded_mb;
        }
        times.planned_mb = float(engine_.memory(*executable_).peak_bytes) * 1e-6F;
        return times;
    }

private:
    Engine engine_;
    Counted* const others_;    ///< null: one process
    std::shared_ptr<const Executable> executable_;
    std::vector<Value> values_;
};

float median(std::vector<Times> all, float Times::*what) {
    std::ranges::sort(all, {}, what);
    return all[all.size() / 2].*what;
}

/// One way to exchange the gradients, and its steps.
struct Variant {
    DType exchange = DType::f32;
    bool in_memory = true;
    std::size_t trainer = 0;    ///< its place
    std::vector<Times> steps = {};
};

void print_line(const Measurement& measurement, const Variant& divided,
                const std::vector<Times>& whole) {
    const auto of_divided = [&](float Times::*what) { return median(divided.steps, what); };
    const auto of_whole = [&](float Times::*what) { return median(whole, what); };
    const auto ratio = [&](float Times::*what) { return of_divided(what) / of_whole(what); };
    const float exchange = of_divided(&Times::exchange_ms);
    const float awaiting = of_divided(&Times::awaiting_ms);
    fmt::print(
        "{} {}, {} samples: two processes {:.0f} ms, one {:.0f} ms: {:.3f}; CPU time {:.0f} and "
        "{:.0f} ms: {:.3f}; exchange of {:.2f} MB as {} {}, {:.2f} in shards, {:.0f} ms, waited "
        "for {:.0f} ms: {:.0f} % hidden; 2 x {:.0f} and {:.0f} MB planned\n",
        measurement.workload, measurement.precision, measurement.batch, of_divided(&Times::step_ms),
        of_whole(&Times::step_ms), ratio(&Times::step_ms), of_divided(&Times::cpu_ms),
        of_whole(&Times::cpu_ms), ratio(&Times::cpu_ms), divided.steps[0].sent_mb,
        to_string(divided.exchange), divided.in_memory ? "in shared memory" : "over sockets",
        divided.steps[0].sharded_mb, exchange, awaiting, 100 * (1 - awaiting / exchange),
        divided.steps[0].planned_mb, whole[0].planned_mb);
}

/// The slower one's, and the CPU time of both.
Times step_of_both(Member& member, Trainer& trainer) {
    Times times = trainer.step();
    float cpu_ms = times.cpu_ms;
    member.all_reduce(Combine::add, DType::f32, std::as_writable_bytes(std::span(&cpu_ms, 1)));
    member.all_reduce(Combine::maximum, DType::f32, std::as_writable_bytes(std::span(&times, 1)));
    times.cpu_ms = cpu_ms;
    return times;
}

/// Rank 0 has the one process' step, too, while the other one waits.
void measure(const Measurement& measurement, int rank, int memory,
             const std::filesystem::path& folder, const std::vector<int>& cpus) {
    MemberOrder order{.rank = rank,
                      .hosts = {"here", "here, too"},
                      .rendezvous_folder = folder / "over_sockets",
                      .secret = "bench",
                      .bind_address = "127.0.0.1",
                      .timeout_s = 600};
    stay_on({cpus[std::size_t(rank)]});
    GlooMember member(order);
    order.rendezvous_folder = folder / "in_memory";
    order.shared_memory = memory;
    GlooMember in_memory(order);
    member.busy();
    Counted counted(measurement.in_memory[0] ? in_memory : member);
    std::vector<std::unique_ptr<Trainer>> divided;
    std::vector<Variant> variants;
    for (const DType exchange : measurement.exchanges)
        for (const bool shards : measurement.shards) {
            for (const bool memory_used : measurement.in_memory)
                variants.push_back({exchange, memory_used, divided.size(), {}});
            divided.push_back(std::make_unique<Trainer>(measurement, process_cores,
                                                        measurement.batch / processes, exchange,
                                                        shards, &counted));
        }
    std::optional<Trainer> whole;
    stay_on(cpus);
    if (rank == 0)
        whole.emplace(measurement, processes * process_cores, measurement.batch,
                      measurement.exchanges[0], false, nullptr);
    stay_on({cpus[std::size_t(rank)]});
    std::vector<Times> of_whole;
    for (int round = 0; round <= measurement.rounds; ++round) {
        for (Variant& variant : variants) {
            counted.go_through(variant.in_memory ? in_memory : member);
            member.barrier("a round");
            const Times times = step_of_both(member, *divided[variant.trainer]);
            if (round > 0) variant.steps.push_back(times);    // before: memory that is new
        }
        member.busy();
        stay_on(cpus);
        const Times of_one = whole ? whole->step() : Times{};
        stay_on({cpus[std::size_t(rank)]});
        if (round > 0) of_whole.push_back(of_one);
    }
    member.barrier("the end");
    if (rank != 0) return;
    for (const Variant& variant : variants)
        print_line(measurement, variant, of_whole);
}

std::vector<int> two_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < processes; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    if (cpus.size() < processes) throw Error(ErrorCode::unavailable, "this needs two CPUs");
    return cpus;
}

int run(const Measurement& measurement) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("slice_steps_{}", getpid());
    const std::vector<int> cpus = two_cpus();
    const UniqueFd memory = make_slice_memory(processes);
    const pid_t other = fork();
    if (other == 0) {
        measure(measurement, 1, memory.get(), folder, cpus);
        std::exit(0);
    }
    measure(measurement, 0, memory.get(), folder, cpus);
    int status = 0;
    waitpid(other, &status, 0);
    std::filesystem::remove_all(folder);
    return status == 0 ? 0 : 1;
}

/// What a word of the command line stands for.
template <class T>
struct Choices {
    const char* what;
    std::vector<std::pair<std::string_view, std::vector<T>>> words;
};

const Choices<DType> exchanges_named{
    "gradients are exchanged as f32, bf16 or both",
    {{"f32", {DType::f32}}, {"bf16", {DType::bf16}}, {"both", {DType::f32, DType::bf16}}}};
const Choices<bool> transports_named{
    "gradients go through memory, sockets or both",
    {{"memory", {true}}, {"sockets", {false}}, {"both", {true, false}}}};
const Choices<bool> updates_named{
    "updates are sharded, whole or both",
    {{"sharded", {true}}, {"whole", {false}}, {"both", {true, false}}}};

template <class T>
bool choose(const Choices<T>& choices, std::string_view word, std::vector<T>& chosen) {
    const auto found =
        std::ranges::find(choices.words, word, [](const auto& row) { return row.first; });
    if (found == choices.words.end()) {
        fmt::print(stderr, "{}, not {}\n", choices.what, word);
        return false;
    }
    chosen = found->second;
    return true;
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    using namespace slipway;
    if (count < 2) {
        fmt::print(stderr,
                   "usage: bench_slice_steps WORKLOAD [ROUNDS [BATCH [f32|bf16 [f32|bf16|both "
                   "[memory|sockets|both [sharded|whole|both]]]]]]\n");
        return 2;
    }
    Measurement measurement{.workload = words[1]};
    if (count > 2) measurement.rounds = std::stoi(words[2]);
    // 0, or none: the workload's own, and a sample for each core at least.
    if (count > 3) measurement.batch = std::stoll(words[3]);
    if (measurement.batch == 0)
        measurement.batch =
            std::max(find_workload(words[1]).batch, std::int64_t{processes * process_cores});
    if (count > 4) measurement.precision = words[4];
    if (measurement.precision != "f32" && measurement.precision != "bf16") {
        fmt::print(stderr, "the precision is f32 or bf16, not {}\n", words[4]);
        return 2;
    }
    if (count > 5 && !choose(exchanges_named, words[5], measurement.exchanges)) return 2;
    if (count > 6 && !choose(transports_named, words[6], measurement.in_memory)) return 2;
    if (count > 7 && !choose(updates_named, words[7], measurement.shards)) return 2;
    return run(measurement);
}
