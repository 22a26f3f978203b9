#include "executor/runtime/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

namespace slipway {
namespace {

using Values = std::vector<std::int32_t>;

std::int64_t elements_of(const Program& program, BufferId id) {
    return program.buffers[id].shape.element_count();
}

/// result[i] = salt + sum over reads of (k + 2) * read_k[i mod its size]: overflow wraps.
std::int32_t mixed(std::int32_t salt,
                   const std::vector<std::pair<const std::int32_t*, std::int64_t>>& reads,
                   std::int64_t i) {
    std::uint32_t result = std::uint32_t(salt) + std::uint32_t(i);
    for (std::size_t k = 0; k < reads.size(); ++k)
        result += std::uint32_t(k + 2) * std::uint32_t(reads[k].first[i % reads[k].second]);
    return std::int32_t(result);
}

/// A random program and what is needed to run it in the slow, obvious way.
class RandomProgram {
public:
    RandomProgram(std::uint64_t seed, int cores) : random_(seed), cores_(cores) {
        add_slots();
        for (const bool per_core : {false, true, false, true, false})
            add_stage(per_core);
        add_outputs();
        pack();
    }

    const Program& program() const { return program_; }

    /// Every buffer has memory of its own, for each core.
    std::vector<std::vector<Values>> evaluate(
        const std::vector<std::vector<Values>>& inputs) const {
        std::vector<std::vector<Values>> memory(program_.buffers.size());
        for (BufferId id = 0; id < memory.size(); ++id) {
            memory[id].assign(std::size_t(cores_), Values(std::size_t(elements_of(program_, id))));
            const Buffer& buffer = program_.buffers[id];
            if (buffer.region == Region::input)
                for (std::size_t core = 0; core < std::size_t(cores_); ++core)
                    memory[id][core] = inputs[buffer.position]
                                             [program_.inputs[buffer.position].per_core ? core : 0];
        }
        for (const Stage& stage : program_.stages)
            evaluate(stage, memory);
        std::vector<std::vector<Values>> outputs;
        for (const BufferId id : output_buffers_)
            outputs.push_back(memory[id]);
        return outputs;
    }

    std::vector<std::vector<Values>> random_inputs(std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        std::vector<std::vector<Values>> inputs;
        for (const Slot& slot : program_.inputs) {
            inputs.emplace_back(std::size_t(slot.per_core ? cores_ : 1),
                                Values(std::size_t(slot.shape.element_count())));
            for (Values& values : inputs.back())
                for (std::int32_t& value : values)
                    value = std::int32_t(random());
        }
        return inputs;
    }

private:
    std::size_t below(std::size_t bound) { return std::size_t(random_() % bound); }

    BufferId add_buffer(Region region, std::int64_t elements, std::size_t position = 0) {
        Buffer buffer{.shape = {DType::i32, {elements}}, .region = region, .position = position};
        if (region != Region::input && region != Region::output) {
            std::int64_t& arena = program_.arena_bytes[std::size_t(region)];
            buffer.offset = arena;
            arena += (elements * 4 + 63) / 64 * 64;
        }
        program_.buffers.push_back(buffer);
        return BufferId(program_.buffers.size() - 1);
    }

    void add_slots() {
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            const Shape shape{DType::i32, {sizes_[i]}};
            program_.inputs.push_back({shape, false, {}});
            replicated_.push_back(add_buffer(Region::input, sizes_[i], 2 * i));
            program_.inputs.push_back({shape, true, {}});
            per_core_.push_back(add_buffer(Region::input, sizes_[i], 2 * i + 1));
        }
    }

    void add_step(const std::vector<BufferId>& readable, BufferId target) {
        Step step{.name = "mix",
                  .reads = {},
                  .writes = {target},
                  .in_place = {},
                  .elements = 0,
                  .kernel = {}};
        for (std::size_t k = 1 + below(3); k > 0; --k)
            step.reads.push_back(readable[below(readable.size())]);
        const std::int64_t elements = elements_of(program_, target);
        if (below(3) > 0) step.elements = elements;
        for (std::size_t k = 0; k < step.reads.size(); ++k)
            if (elements_of(program_, step.reads[k]) == elements) step.in_place.emplace_back(k, 0);
        const auto salt = std::int32_t(salts_.size());
        salts_.push_back(salt);
        std::vector<std::int64_t> counts;
        for (const BufferId id : step.reads)
            counts.push_back(elements_of(program_, id));
        step.kernel = [salt, counts, elements, sliced = step.elements > 0](const KernelCall& call) {
            std::vector<std::pair<const std::int32_t*, std::int64_t>> reads;
            for (std::size_t k = 0; k < counts.size(); ++k)
                reads.emplace_back(reinterpret_cast<const std::int32_t*>(call.reads[k]), counts[k]);
            auto* result = reinterpret_cast<std::int32_t*>(call.writes[0]);
            for (std::int64_t i = sliced ? call.begin : 0; i < (sliced ? call.end : elements); ++i)
                result[i] = mixed(salt, reads, i);
        };
        program_.steps.push_back(std::move(step));
    }

    void add_stage(bool per_core) {
        Stage stage{per_core, program_.steps.size(), 0, {}};
        std::vector<BufferId> readable = replicated_;
        if (per_core) readable.insert(readable.end(), per_core_.begin(), per_core_.end());
        for (std::size_t k = 3 + below(6); k > 0; --k) {
            const bool outlives = below(4) == 0;
            const Region region = !per_core  ? Region::shared
                                  : outlives ? Region::core
                                             : Region::worker;
            const BufferId target = add_buffer(region, sizes_[below(sizes_.size())]);
            add_step(readable, target);
            readable.push_back(target);
            if (!per_core) replicated_.push_back(target);
            if (region == Region::core) per_core_.push_back(target);
        }
        for (std::size_t k = per_core ? 2 : 0; k > 0; --k) {
            const BufferId target = add_buffer(Region::sum, sizes_[below(sizes_.size())]);
            add_step(readable, target);
            stage.sums.push_back({target, Combine::add});
            replicated_.push_back(target);
        }
        stage.step_count = program_.steps.size() - stage.first_step;
        program_.stages.push_back(stage);
    }

    void add_outputs() {
        Stage stage{false, program_.steps.size(), 3, {}};
        for (std::size_t position = 0; position < 3; ++position) {
            const std::int64_t elements = sizes_[position];
            program_.outputs.push_back({{DType::i32, {elements}}, false, {}});
            output_buffers_.push_back(add_buffer(Region::output, elements, position));
            add_step(replicated_, output_buffers_.back());
        }
        program_.stages.push_back(stage);
    }

    /// Moves buffers over each other at random, wherever the verifier has nothing against it.
    void pack() {
        ASSERT_THAT(find_problems(program_), testing::IsEmpty());
        for (Buffer& buffer : program_.buffers) {
            if (buffer.region == Region::input || buffer.region == Region::output) continue;
            for (int attempt = 0; attempt < 8; ++attempt) {
                const std::int64_t before = buffer.offset;
                buffer.offset = std::int64_t(below(std::size_t(before / 64 + 1))) * 64;
                if (find_problems(program_).empty()) {
                    moves_ += buffer.offset != before;
                    break;
                }
                buffer.offset = before;
            }
        }
        ASSERT_GT(moves_, 0);
    }

    void evaluate(const Stage& stage, std::vector<std::vector<Values>>& memory) const {
        for (std::size_t core = 0; core < std::size_t(cores_); ++core) {
            for (std::size_t i = 0; i < stage.step_count; ++i) {
                const Step& step = program_.steps[stage.first_step + i];
                std::vector<std::pair<const std::int32_t*, std::int64_t>> reads;
                for (const BufferId id : step.reads)
                    reads.emplace_back(memory[id][core].data(), memory[id][core].size());
                Values result(memory[step.writes[0]][core].size());
                for (std::size_t k = 0; k < result.size(); ++k)
                    result[k] = mixed(salts_[stage.first_step + i], reads, std::int64_t(k));
                memory[step.writes[0]][core] = result;
            }
        }
        for (const Sum& sum : stage.sums) {
            Values total = memory[sum.buffer][0];
            for (std::size_t core = 1; core < std::size_t(cores_); ++core)
                for (std::size_t k = 0; k < total.size(); ++k)
                    total[k] = std::int32_t(std::uint32_t(total[k]) +
                                            std::uint32_t(memory[sum.buffer][core][k]));
            memory[sum.buffer].assign(std::size_t(cores_), total);
        }
    }

    std::mt19937_64 random_;
    int cores_;
    Program program_;
    std::vector<std::int64_t> sizes_{1, 50, 17000, 20000};
    std::vector<BufferId> replicated_, per_core_, output_buffers_;
    std::vector<std::int32_t> salts_;
    int moves_ = 0;
};

std::vector<std::vector<std::byte*>> addresses(std::vector<std::vector<Values>>& values) {
    std::vector<std::vector<std::byte*>> result;
    for (auto& per_core : values) {
        result.emplace_back();
        for (Values& one : per_core)
            result.back().push_back(reinterpret_cast<std::byte*>(one.data()));
    }
    return result;
}

std::vector<std::vector<Values>> run(Runtime& runtime, const Program& program,
                                     std::vector<std::vector<Values>> inputs,
                                     bool timeline = false) {
    std::vector<std::vector<Values>> outputs;
    for (const Slot& slot : program.outputs)
        outputs.push_back({Values(std::size_t(slot.shape.element_count()))});
    const RunPlan plan = make_run_plan(program, runtime.team());
    runtime.run(program, plan, {addresses(inputs), addresses(outputs)}, timeline);
    return outputs;
}

// Goal: whatever program the verifier accepts gives the same values as one where every buffer has
// memory of its own, for any number of workers.
TEST(Runtime, runs_random_programs_like_the_obvious_evaluation) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const RandomProgram random(seed, 8);
        for (const int workers : {1, 2, 3, 8}) {
            Runtime runtime({8, workers});
            for (std::uint64_t round = 0; round < 2; ++round) {
                const auto inputs = random.random_inputs(seed * 100 + round);
                const auto expected = random.evaluate(inputs);
                const auto outputs = run(runtime, random.program(), inputs);
                for (std::size_t i = 0; i < outputs.size(); ++i)
                    ASSERT_EQ(outputs[i][0], expected[i][0])
                        << "seed " << seed << ", " << workers << " workers, output " << i;
            }
        }
    }
}

/// Whether the program is sound when a replica goes on with this step, its buffers as they lie.
bool may_continue(Program program, std::size_t step) {
    program.steps[step].continues = true;
    return find_problems(program).empty();
}

/// Every other sum has its contributions wait in the arena of the replicas, the others in memory of
/// the worker's own.
void let_contributions_wait(Program& program) {
    const std::int64_t waiting = partials_needed(program.replicas_together) - 1;
    std::size_t count = 0;
    for (Stage& stage : program.stages)
        for (Sum& sum : stage.sums) {
            if (count++ % 2 == 1) continue;
            const std::int64_t line = 64, replicas = program.replicas_together;
            const std::int64_t lines =
                (program.buffers[sum.buffer].shape.byte_count() + line - 1) / line * waiting;
            const std::int64_t bytes = (lines + replicas - 1) / replicas * line;
            std::int64_t& arena = program.arena_bytes[std::size_t(Region::worker)];
            sum.waiting = BufferId(program.buffers.size());
            program.buffers.push_back(
                {.shape = {DType::u8, {bytes}}, .region = Region::worker, .offset = arena});
            arena += bytes;
        }
}

/// The same program, each step run for all replicas of a block before the next; every other step
/// that can be computes them at once, and a replica goes on with those after one that does not.
Program with_replicas_together(Program program, const Team& team) {
    program.replicas_together = core_blocks(team).front().count;
    if (program.replicas_together == 1) return program;
    for (const Stage& stage : program.stages) {
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; i += 2) {
            Step& step = program.steps[i];
            std::vector<std::int64_t> strides;
            bool lies_together = stage.per_core;
            for (const auto* ids : {&step.reads, &step.writes})
                for (const BufferId id : *ids) {
                    const Buffer& buffer = program.buffers[id];
                    const bool is_in_arena =
                        buffer.region == Region::worker || buffer.region == Region::core;
                    const bool is_one_for_all =
                        buffer.region != Region::sum && !is_per_core(program, buffer);
                    lies_together = lies_together && (is_in_arena || is_one_for_all);
                    strides.push_back(is_in_arena ? (buffer.shape.byte_count() + 63) / 64 * 64 : 0);
                }
            if (!lies_together) continue;
            step.together = [kernel = step.kernel, strides,
                             replicas = program.replicas_together](const KernelCall& call) {
                std::vector<const std::byte*> reads(call.reads.begin(), call.reads.end());
                std::vector<std::byte*> writes(call.writes.begin(), call.writes.end());
                for (int replica = 0; replica < replicas; ++replica) {
                    kernel({.reads = reads,
                            .writes = writes,
                            .begin = call.begin,
                            .end = call.end,
                            .worker = call.worker});
                    for (std::size_t k = 0; k < strides.size(); ++k)
                        k < reads.size() ? reads[k] += strides[k]
                                         : writes[k - reads.size()] += strides[k];
                }
            };
        }
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        program.steps[i].continues = may_continue(program, i);
    let_contributions_wait(program);
    return program;
}

// Goal: also with cores that leave the last block smaller, whose steps are run for each core.
TEST(Runtime, runs_replicas_together_like_one_after_the_other) {
    int together = 0, in_one_go = 0;
    for (const int cores : {8, 6}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const RandomProgram random(seed, cores);
            for (const int workers : {1, 2, 3, 8}) {
                Runtime runtime({cores, workers});
                const Program program = with_replicas_together(random.program(), runtime.team());
                EXPECT_THAT(find_problems(program), testing::IsEmpty());
                together += int(std::ranges::count_if(
                    program.steps, [](const Step& step) { return bool(step.together); }));
                in_one_go += int(std::ranges::count(program.steps, true, &Step::continues));
                const auto inputs = random.random_inputs(seed);
                const auto expected = random.evaluate(inputs);
                for (const bool timeline : {false, true}) {
                    const auto outputs = run(runtime, program, inputs, timeline);
                    for (std::size_t i = 0; i < outputs.size(); ++i)
                        ASSERT_EQ(outputs[i][0], expected[i][0])
                            << "seed " << seed << ", " << cores << " cores, " << workers
                            << " workers, output " << i;
                }
            }
        }
    }
    EXPECT_GT(together, 20);
    EXPECT_GT(in_one_go, 20);
}

/// input 0 per core, f32[n] -> all_reduce -> output 0.
Program sum_program(std::int64_t n) {
    const Shape shape{DType::f32, {n}};
    const auto copy = [n](const KernelCall& call) {
        std::copy_n(call.reads[0], n * 4, call.writes[0]);
    };
    Program program;
    program.inputs = {{shape, true, {}}};
    program.outputs = {{shape, false, {}}};
    program.buffers = {
        {shape, Region::input, 0, 0}, {shape, Region::sum, 0, 0}, {shape, Region::output, 0, 0}};
    program.steps = {{"copy", {0}, {1}, {}, 0, copy}, {"copy", {1}, {2}, {}, 0, copy}};
    program.stages = {{true, 0, 1, {{1, Combine::add}}}, {false, 1, 1, {}}};
    program.arena_bytes[std::size_t(Region::sum)] = (n * 4 + 63) / 64 * 64;
    return program;
}

TEST(Runtime, adds_the_cores_in_the_order_of_the_fixed_tree) {
    constexpr std::int64_t n = 1000;
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<std::vector<float>> x(8, std::vector<float>(n));
    for (auto& core : x)
        for (float& value : core)
            value = uniform(random) * std::exp2(float(random() % 20));
    const Program program = sum_program(n);
    ASSERT_THAT(find_problems(program), testing::IsEmpty());
    for (const int workers : {1, 2, 4, 5, 8}) {
        Runtime runtime({8, workers});
        std::vector<float> sum(n);
        Bindings bindings{{{}}, {{reinterpret_cast<std::byte*>(sum.data())}}};
        for (auto& core : x)
            bindings.inputs[0].push_back(reinterpret_cast<std::byte*>(core.data()));
        runtime.run(program, make_run_plan(program, runtime.team()), bindings);
        for (std::size_t i = 0; i < n; ++i)
            ASSERT_EQ(sum[i], ((x[0][i] + x[1][i]) + (x[2][i] + x[3][i])) +
                                  ((x[4][i] + x[5][i]) + (x[6][i] + x[7][i])))
                << workers << " workers";
    }
}

/// input 0 per core, f32[n] -> a replicated step over n elements that is given each core's.
Program joining_program(std::int64_t n) {
    const Shape shape{DType::f32, {n}};
    const auto join = [](const KernelCall& call) {
        auto* const to = reinterpret_cast<float*>(call.writes[0]);
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            to[i] = 0;
            for (const std::byte* core : call.reads)
                to[i] = to[i] * 2 + reinterpret_cast<const float*>(core)[i];
        }
    };
    Program program;
    program.inputs = {{shape, true, {}}};
    program.outputs = {{shape, false, {}}};
    program.buffers = {{shape, Region::input, 0, 0}, {shape, Region::output, 0, 0}};
    program.steps = {{"join", {0}, {1}, {}, n, join, true}};
    program.stages = {{false, 0, 1, {}}};
    return program;
}

// Goal: also a step of so few elements that another would not be worth slicing; what is less than
// 128 KiB of all cores is one worker's.
TEST(Runtime, gives_a_step_that_joins_the_cores_what_each_has_in_their_order) {
    constexpr std::int64_t n = 8000;
    EXPECT_FALSE(make_run_plan(joining_program(200), {8, 2}).steps[0].sliced);
    const Program program = joining_program(n);
    ASSERT_THAT(find_problems(program), testing::IsEmpty());
    std::vector<std::vector<float>> x(8, std::vector<float>(n));
    float expected = 0;
    for (std::size_t core = 0; core < x.size(); ++core) {
        std::ranges::fill(x[core], float(core));
        expected = expected * 2 + float(core);
    }
    for (const int workers : {1, 2, 3, 8}) {
        Runtime runtime({8, workers});
        std::vector<float> joined(n);
        Bindings bindings{{{}}, {{reinterpret_cast<std::byte*>(joined.data())}}};
        for (auto& core : x)
            bindings.inputs[0].push_back(reinterpret_cast<std::byte*>(core.data()));
        const RunPlan plan = make_run_plan(program, runtime.team());
        EXPECT_EQ(plan.steps[0].sliced, workers > 1);
        runtime.run(program, plan, bindings);
        EXPECT_THAT(joined, testing::Each(expected)) << workers << " workers";
    }
}

// Goal: its elements are as much work as rows of a matrix: each worker has some of five.
TEST(Runtime, shares_few_elements_that_join_the_cores_among_all_workers) {
    std::array<int, 5> workers_of{};
    Program program = joining_program(workers_of.size());
    // Of a few large ones.
    const Shape large{DType::f32, {8000}};
    program.inputs[0].shape = program.outputs[0].shape = large;
    program.buffers[0].shape = program.buffers[1].shape = large;
    program.steps[0].kernel = [&](const KernelCall& call) {
        for (std::int64_t i = call.begin; i < call.end; ++i)
            workers_of[std::size_t(i)] += 1 << call.worker;
    };
    Runtime runtime({8, 3});
    std::vector<float> x(8000), joined(8000);
    const Bindings bindings{{std::vector<std::byte*>(8, reinterpret_cast<std::byte*>(x.data()))},
                            {{reinterpret_cast<std::byte*>(joined.data())}}};
    runtime.run(program, make_run_plan(program, runtime.team()), bindings);
    EXPECT_THAT(workers_of, testing::ElementsAre(1, 2, 2, 4, 4));
}

// Goal: an error of any core or slice ends the run, reaches the caller, and hurts no later run.
TEST(Runtime, rethrows_an_error_of_a_kernel_and_can_be_used_again) {
    const RandomProgram random(99, 8);
    const auto inputs = random.random_inputs(1);
    Runtime runtime({8, 4});
    const auto healthy = run(runtime, random.program(), inputs);
    for (std::size_t step = 0; step < random.program().steps.size(); ++step) {
        Program faulty = random.program();
        const Kernel inner = faulty.steps[step].kernel;
        const auto calls = std::make_shared<std::atomic<int>>(0);
        faulty.steps[step].kernel = [inner, calls](const KernelCall& call) {
            if (calls->fetch_add(1) == 0) throw std::runtime_error("step failed");
            inner(call);
        };
        EXPECT_THROW(run(runtime, faulty, inputs), std::runtime_error);
        ASSERT_TRUE(runtime.failed_step());
        EXPECT_EQ(runtime.failed_step()->name, faulty.steps[step].name);
        EXPECT_LT(runtime.failed_step()->replica, 8);
        EXPECT_EQ(run(runtime, random.program(), inputs), healthy);
        EXPECT_FALSE(runtime.failed_step());
    }
}

// Goal: the sums of times fit into the time of the run, and a timeline holds each step as often as
// it ran: once for each core, or once for each worker that had a part of it.
TEST(Runtime, says_where_the_time_of_a_run_went) {
    const RandomProgram random(5, 8);
    const auto inputs = random.random_inputs(1);
    for (const int workers : {1, 2, 8}) {
        Runtime runtime({8, workers});
        const RunPlan plan = make_run_plan(random.program(), runtime.team());
        for (const bool timeline : {true, false}) {
            run(runtime, random.program(), inputs, timeline);
            const RunTimes& times = runtime.times();
            ASSERT_EQ(times.workers.size(), std::size_t(workers));
            EXPECT_LE(times.start_wait(), times.end - times.begin);
            std::vector<std::int64_t> runs(random.program().steps.size());
            for (const WorkerTimes& worker : times.workers) {
                std::chrono::nanoseconds used = worker.waiting + worker.reducing;
                for (const auto core : worker.cores)
                    used += core;
                EXPECT_LE(used, worker.end - worker.begin);
                EXPECT_LE(times.begin, worker.begin);
                EXPECT_LE(worker.end, times.end);
                EXPECT_EQ(worker.sums.empty(), !timeline);
                for (const StepSpan& span : worker.steps) {
                    ++runs[span.step];
                    EXPECT_LE(worker.begin, span.begin);
                    EXPECT_LE(span.begin, span.end);
                    EXPECT_LE(span.end, worker.end);
                }
            }
            if (workers == 1) {
                EXPECT_EQ(times.workers[0].waiting.count(), 0);
            }
            for (const Stage& stage : random.program().stages)
                for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i)
                    EXPECT_EQ(runs[i], !timeline              ? 0
                                       : stage.per_core       ? 8
                                       : plan.steps[i].sliced ? workers
                                                              : 1);
        }
    }
}

TEST(Runtime, grows_its_arenas_to_the_largest_program) {
    Runtime runtime({8, 2});
    for (const std::int64_t n : {16, 100000, 16}) {
        const Program program = sum_program(n);
        std::vector<float> ones(std::size_t(n), 1.0F), sum(static_cast<std::size_t>(n));
        const Bindings bindings{{std::vector(8, reinterpret_cast<std::byte*>(ones.data()))},
                                {{reinterpret_cast<std::byte*>(sum.data())}}};
        runtime.run(program, make_run_plan(program, runtime.team()), bindings);
        EXPECT_THAT(sum, testing::Each(8.0F));
    }
}

}    // namespace
}    // namespace slipway
