// Goal: a job compiles its programs before its third step and never again, and jobs that differ in
// numbers only share one program. Method: whole runs on small data, judged by their reports; the
// learning rate is the number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "api/base/json.h"
#include "executor/engine/engine.h"
#include "executor/nn/models/mlp.h"
#include "executor/tensor/random.h"
#include "executor/train/evaluate.h"
#include "executor/train/run.h"
#include "executor/train/step.h"
#include "tests/executor/train/class_batch.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr int rates = 100;
constexpr std::int64_t side = 16;

double rate(int job) {
    return 0.001 * (job + 1);
}

class CompileReporter final : public Reporter {
public:
    std::vector<CompiledProgram> programs;
    double last_loss = 0;

    void state(JobState) override {}
    void begin(std::int64_t) override {}
    void progress(const Progress&) override {}
    void epoch(const EpochSummary&) override {}
    void metric(const MetricPoint& point) override {
        for (const auto& [name, value] : point.values)
            if (name == "train_loss") last_loss = value;
    }
    void log(const std::string&, const std::string&) override {}
    void warning(const std::string& code, const std::string& message) override {
        ADD_FAILURE() << code << ": " << message;
    }
    void checkpoint(const SavedCheckpoint&) override {}
    void compiled(const CompiledProgram& program) override { programs.push_back(program); }
    void reported(const WrittenReport&) override {}
    StopReason stop_requested() override { return StopReason::none; }
};

std::string big_endian(std::uint32_t word) {
    return {char(word >> 24), char(word >> 16), char(word >> 8), char(word)};
}

struct Compiles : testing::Test {
    TempFolder folder;

    /// 40 images of random pixels in two classes, as idx: a table for an MLP, images for LeNet.
    std::filesystem::path images() const {
        constexpr std::uint32_t count = 40;
        RandomStream stream(3, site_augment, 0);
        std::string pixels =
            big_endian(0x803) + big_endian(count) + big_endian(side) + big_endian(side);
        std::string labels = big_endian(0x801) + big_endian(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            labels += char(i % 2);
            for (std::int64_t pixel = 0; pixel < side * side; ++pixel)
                pixels += char(stream.next_below(256));
        }
        folder.write("data/train-labels-idx1-ubyte", labels);
        return folder.write("data/train-images-idx3-ubyte", pixels).parent_path();
    }

    AttemptPlan plan(Arch arch, std::int64_t cores) const {
        AttemptPlan plan;
        plan.spec.model.arch = arch;
        plan.spec.model.width = 8;
        plan.spec.data.split.val_fraction = 0.2;
        plan.spec.train.epochs = 3;
        plan.spec.train.batch_size_per_core = 8 / cores;
        plan.spec.train.optimizer.lr = 0.01;
        plan.spec.accelerator.cores = cores;
        plan.spec.monitor.log_every_steps = 1;
        plan.dataset_format = "idx";
        plan.dataset_path = images();
        plan.checkpoint_folder = folder.path() / "checkpoints";
        plan.report_folder = folder.path() / "report";
        plan.worker_threads = 2;
        return plan;
    }
    Json report() const { return Json::parse(read_file(folder.path() / "report" / "report.json")); }
};

struct Case {
    const char* name;
    Arch arch;
    std::int64_t cores;
};

class CompilesOf : public Compiles, public testing::WithParamInterface<Case> {};

TEST_P(CompilesOf, are_the_programs_of_a_job_and_no_more_after_its_second_step) {
    CompileReporter reporter;
    run_training(plan(GetParam().arch, GetParam().cores), reporter);
    ASSERT_EQ(reporter.programs.size(), 2U);
    for (const CompiledProgram& program : reporter.programs)
        EXPECT_FALSE(program.after_warm_up) << program.program << ": " << program.cause;
    const Json counters = report()["counters"];
    // 12 steps; 3 evaluations of one batch.
    EXPECT_EQ(counters["MarkStep"], 15);
    EXPECT_EQ(counters["UncachedCompile"], 2);
    EXPECT_EQ(counters["CachedCompile"], 13);
}

INSTANTIATE_TEST_SUITE_P(Jobs, CompilesOf,
                         testing::Values(Case{"mlp_1", Arch::mlp, 1}, Case{"mlp_8", Arch::mlp, 8},
                                         Case{"lenet_1", Arch::lenet, 1},
                                         Case{"lenet_8", Arch::lenet, 8}),
                         [](const auto& one) { return std::string(one.param.name); });

// Traced anew for each learning rate, as a sweep in one process would.
TEST_F(Compiles, a_hundred_learning_rates_are_one_program) {
    Model model;
    Init init(1);
    model.forward = without_pass(Mlp::create(model.parameters, init, 4, {8}, 2));
    const Optimizer& optimizer = find_optimizer("sgd");
    Engine engine({.cores = 1});
    LoadedBatch batch;
    batch.cores.push_back({.features = Array({DType::f32, {8, 4}}),
                           .labels = Array({DType::i32, {8}}),
                           .weights = Array({DType::f32, {8}})});
    for (float& feature : batch.cores[0].features.as<float>())
        feature = 1;
    for (float& weight : batch.cores[0].weights.as<float>())
        weight = 1;
    std::set<float> results;
    for (int job = 0; job < rates; ++job) {
        const TracedStep step =
            trace_train_step(model, class_task(), optimizer, class_batch(8, {4}));
        const auto executable = engine.compile(step.graph);
        const Bindings<StepInput>& inputs = step.bindings.inputs;
        std::vector<Array> parameters, states;
        for (const Parameter& parameter : model.parameters.all())
            parameters.push_back(parameter.value.clone());
        for (const Tensor& state :
             inputs.of(std::span(step.graph.inputs), StepInput::optimizer_state))
            states.emplace_back(state.shape());
        StepValues values(inputs);
        values.set(StepInput::parameters, parameters);
        values.set(StepInput::optimizer_state, states);
        values.set(StepInput::hyper,
                   Value{{hyper_values({.lr = rate(job), .step = 1, .label_count = 8})}});
        set_batch(values, batch);
        const std::vector<Value> outputs = engine.run(*executable, std::move(values).take());
        const auto updated = step.bindings.outputs.of(std::span(outputs), StepOutput::parameters);
        results.insert(updated.back().arrays[0].as<float>()[0]);
    }
    EXPECT_EQ(engine.counters().compiles, 1);
    EXPECT_EQ(engine.counters().cached_compiles, rates - 1);
    EXPECT_EQ(results.size(), std::size_t(rates)) << "each learns at its own rate";
}

TEST_F(Compiles, a_hundred_jobs_of_different_learning_rates_compile_their_code_once) {
    AttemptPlan one = plan(Arch::mlp, 1);
    one.spec.train.epochs.reset();
    one.spec.train.steps = 3;
    one.cache_folder = folder.path() / "compile_cache";
    const auto entries = [&] {
        const std::filesystem::directory_iterator files(one.cache_folder);
        return std::count_if(begin(files), end(files),
                             [](const auto& file) { return file.path().extension() == ".obj"; });
    };
    std::set<double> losses;
    std::int64_t made = 0;
    for (int job = 0; job < rates; ++job) {
        one.spec.train.optimizer.lr = rate(job);
        one.checkpoint_folder = folder.path() / fmt::format("checkpoints_{}", job);
        CompileReporter reporter;
        run_training(one, reporter);
        losses.insert(reporter.last_loss);
        const Json cache = report()["compile_cache"];
        if (job == 0) made = cache["misses"].get<std::int64_t>();
        ASSERT_EQ(cache["misses"], job == 0 ? made : 0) << "job " << job;
        ASSERT_EQ(cache["stored"], job == 0 ? made : 0) << "job " << job;
        ASSERT_EQ(cache["hits"], job == 0 ? 0 : made) << "job " << job;
        ASSERT_EQ(entries(), made);
    }
    EXPECT_GT(made, 0);
    EXPECT_EQ(losses.size(), std::size_t(rates)) << "each learns at its own rate";
}

}    // namespace
}    // namespace slipway
