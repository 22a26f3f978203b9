// Goal: a run says where its time went, in files that a program, a person and a browser can read,
// and a job that needs too much memory is told which batch would fit. Method: whole runs on a small
// table.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "executor/processor/instruction_set.h"
#include "executor/tensor/random.h"
#include "executor/train/run.h"
#include "executor/train/train_error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReportReporter final : public Reporter {
public:
    std::vector<CompiledProgram> programs;
    std::vector<WrittenReport> reports;
    std::vector<std::string> warnings;
    std::vector<std::string> logs;

    void state(JobState) override {}
    void begin(std::int64_t) override {}
    void progress(const Progress&) override {}
    void epoch(const EpochSummary&) override {}
    void metric(const MetricPoint&) override {}
    void log(const std::string&, const std::string& message) override { logs.push_back(message); }
    void warning(const std::string& code, const std::string&) override { warnings.push_back(code); }
    void checkpoint(const SavedCheckpoint&) override {}
    void compiled(const CompiledProgram& program) override {
        EXPECT_FALSE(program.after_warm_up) << program.program << ": " << program.cause;
        programs.push_back(program);
    }
    void reported(const WrittenReport& report) override { reports.push_back(report); }
    StopReason stop_requested() override { return StopReason::none; }
};

/// Two noisy clusters in four columns.
std::string table(int rows) {
    std::string text = "a,b,c,d,label\n";
    RandomStream stream(11, site_augment, 0);
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < 4; ++column)
            text += fmt::format("{:.6f},", stream.next_normal() + (row % 2 == 0 ? 0.0F : 1.5F));
        text += row % 2 == 0 ? "no\n" : "yes\n";
    }
    return text;
}

struct RunExplained : testing::Test {
    TempFolder folder;
    ReportReporter reporter;

    AttemptPlan plan(std::int64_t cores = 8) const {
        AttemptPlan plan;
        plan.spec.model.width = 16;
        plan.spec.data.split.val_fraction = 0.2;
        plan.spec.train.epochs = 20;
        plan.spec.train.batch_size_per_core = 32 / cores;
        plan.spec.train.optimizer.lr = 0.01;
        plan.spec.accelerator.cores = cores;
        plan.dataset_format = "csv";
        plan.dataset_path = folder.write("data/points.csv", table(200));
        plan.checkpoint_folder = folder.path() / "checkpoints";
        plan.report_folder = folder.path() / "reports" / "job";
        plan.worker_threads = 2;
        plan.keeps_workers = true;    // what is compared is of so many
        return plan;
    }
    Json read(const std::string& name) const {
        return Json::parse(read_file(folder.path() / "reports" / "job" / name));
    }
};

TEST_F(RunExplained, the_report_adds_up) {
    run_training(plan(), reporter);
    const Json report = read("report.json");
    EXPECT_TRUE(report["finished"]);
    EXPECT_EQ(report["step"], 100);
    double phases = 0;
    for (const auto& [name, spent] : report["phases"].items()) {
        EXPECT_GE(spent, 0) << name;
        phases += spent.get<double>();
    }
    EXPECT_NEAR(phases, report["wall_s"].get<double>(), 1e-6);
    double shares = 0;
    for (const auto& [name, share] : report["verdict"]["shares"].items()) {
        EXPECT_GE(share, 0) << name;
        shares += share.get<double>();
    }
    EXPECT_NEAR(shares, 1, 1e-9);
    ASSERT_EQ(report["cores"].size(), 8U);
    for (const Json& core : report["cores"]) {
        EXPECT_GT(core["busy_s"], 0);
        EXPECT_LE(core["busy_share"], 1);
    }
    ASSERT_EQ(report["workers"].size(), 2U);
    EXPECT_EQ(report["timelines"], 2);    // the second step and the 66th
    EXPECT_FALSE(report["kernels"].empty());
    EXPECT_EQ(report["compile_cache"], nullptr);
    EXPECT_FALSE(report["verdict"]["message"].get<std::string>().empty());
}

TEST_F(RunExplained, every_epoch_has_a_summary_and_its_report_where_asked_for) {
    AttemptPlan asked = plan();
    asked.spec.train.epochs = 3;
    asked.spec.monitor.metrics_report = MetricsReport::epoch;
    run_training(asked, reporter);
    const Json epochs = read("report.json")["epochs"];
    ASSERT_EQ(epochs.size(), 3U);
    EXPECT_EQ(epochs, read("epochs/000003.json")["epochs"]);
    EXPECT_EQ(read("epochs/000002.json")["epochs"].size(), 2U);
    EXPECT_EQ(read("epochs/000002.json")["step"], 10);
    EXPECT_THAT(read_file(asked.report_folder / "epochs" / "000001.txt"),
                HasSubstr("epoch 1 of 3 (step 5): training "));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(epochs[i]["step"], 5 * (i + 1));
        EXPECT_EQ(epochs[i]["samples"], 160);
        EXPECT_NEAR(epochs[i]["samples_per_s"].get<double>() * epochs[i]["train_s"].get<double>(),
                    160, 1e-6);
        EXPECT_GT(epochs[i]["evaluate_s"], 0);
        EXPECT_TRUE(epochs[i]["values"].contains("train_loss"));
        EXPECT_TRUE(epochs[i]["values"].contains("val_loss"));
    }
    EXPECT_LT(epochs[2]["values"]["train_loss"], epochs[0]["values"]["train_loss"]);
}

TEST_F(RunExplained, no_report_is_written_where_none_is_wanted) {
    AttemptPlan asked = plan();
    asked.spec.train.epochs = 1;
    asked.spec.monitor.metrics_report = MetricsReport::never;
    run_training(asked, reporter);
    EXPECT_TRUE(reporter.reports.empty());
    EXPECT_FALSE(fs::exists(asked.report_folder / "report.json"));
    EXPECT_FALSE(fs::exists(asked.report_folder / "graphs"));
    EXPECT_TRUE(fs::exists(asked.report_folder / "evaluation.json")) << "that is no such report";
}

TEST_F(RunExplained, metrics_and_counters_have_the_known_names_and_fit) {
    run_training(plan(), reporter);
    const Json report = read("report.json");
    const Json& counters = report["counters"];
    // 100 training steps; 20 evaluations of 40 rows in batches of 32.
    EXPECT_EQ(counters["MarkStep"], 140);
    EXPECT_EQ(counters["UncachedCompile"], 2);
    EXPECT_EQ(counters["CreateCompileHandles"], 2);
    EXPECT_EQ(counters["CachedCompile"], 138);
    std::map<std::string, Json> metrics;
    for (const Json& metric : report["metrics"])
        metrics[metric["name"]] = metric;
    EXPECT_EQ(metrics["CompileTime"]["samples"], 2);
    EXPECT_EQ(metrics["ExecuteTime"]["samples"], 140);
    EXPECT_EQ(metrics["TransferToDeviceTime"]["samples"], 100);
    EXPECT_EQ(metrics["TransferFromDeviceTime"]["samples"], 100);
    EXPECT_EQ(metrics["InputWaitTime"]["samples"], 100);
    EXPECT_EQ(metrics["DeviceLockWait"]["samples"], 140);
    EXPECT_EQ(metrics["TraceTime"]["samples"], 2);
    EXPECT_EQ(metrics["ExecuteTime"]["percentiles"].size(), 9U);
    EXPECT_GT(metrics["InputOutputAliasCount"]["total"], 0);
    const std::string text = read_file(folder.path() / "reports/job/report.txt");
    EXPECT_TRUE(text.starts_with("Verdict: "));
    EXPECT_THAT(text, HasSubstr("\n\nMetric: AllReduceTime\n  TotalSamples: 140\n  Accumulator: "));
    EXPECT_THAT(text, HasSubstr("Counter: CachedCompile\n  Value: 138\n"));
}

/// The slowest product with such a result. A report has but the slowest kernels, so it has to be
/// one that takes far longer than most.
std::string slowest_product(const Json& report, const std::string& result) {
    for (const Json& kernel : report["kernels"]) {
        const auto name = kernel["name"].get<std::string>();
        if (name.starts_with("dot_general") && name.ends_with(result)) return name;
    }
    return "no product with the result " + result;
}

std::int64_t calls_of(const std::string& name, const Json& report) {
    std::int64_t calls = 0;
    for (const Json& kernel : report["kernels"])
        if (kernel["name"] == name) calls += kernel["calls"].get<std::int64_t>();
    return calls;
}

TEST_F(RunExplained, a_step_of_several_batches_is_one_step) {
    AttemptPlan single = plan();
    single.spec.model.width = 128;
    single.spec.train.batch_size_per_core = 1;
    run_training(single, reporter);
    const Json of_single = read("report.json");
    const std::string slowest = slowest_product(of_single, "f32[128,128]");
    ASSERT_GT(calls_of(slowest, of_single), 0) << slowest;
    AttemptPlan many = single;
    many.spec.train.grad_accumulation = 4;
    many.checkpoint_folder = folder.path() / "others";
    run_training(many, reporter);
    const Json report = read("report.json");
    EXPECT_EQ(report["step"], 100);
    EXPECT_EQ(report["timelines"], 2);    // the second step and the 66th, as ever
    EXPECT_EQ(calls_of(slowest, report), 4 * calls_of(slowest, of_single)) << slowest;
    // 400 batches trained on; 20 evaluations of 40 rows in batches of 8.
    EXPECT_EQ(report["counters"]["MarkStep"], 400 + 100);
    EXPECT_EQ(report["counters"]["UncachedCompile"], 3);
    const Json graphs = read("graphs.json");
    ASSERT_EQ(graphs.size(), 3U);
    EXPECT_EQ(graphs[0]["program"], "train_step");
    EXPECT_EQ(graphs[1]["program"], "accumulation_step");
}

TEST_F(RunExplained, every_program_has_a_page) {
    run_training(plan(), reporter);
    const Json graphs = read("graphs.json");
    ASSERT_EQ(graphs.size(), 2U);
    EXPECT_EQ(graphs[0]["program"], "train_step");
    EXPECT_EQ(graphs[0]["hash"], reporter.programs[0].hash);
    const Json page = read("graphs/" + reporter.programs[0].hash + ".json");
    EXPECT_THAT(page["ir"].get<std::string>(), HasSubstr("dot_general"));
    EXPECT_THAT(page["text"].get<std::string>(), HasSubstr("stage per_core"));
    EXPECT_EQ(page["input_slots"].size(), page["inputs"].get<std::size_t>());
    EXPECT_EQ(page["steps"].size(), page["kernels"].get<std::size_t>());
    const Json& memory = page["memory"];
    EXPECT_EQ(memory["peak_bytes"], memory["input_bytes"].get<std::int64_t>() +
                                        memory["output_bytes"].get<std::int64_t>() +
                                        memory["temporary_bytes"].get<std::int64_t>());
    EXPECT_GT(memory["aliased_bytes"], 0);
    EXPECT_GT(memory["code_bytes"], 0);
}

TEST_F(RunExplained, every_program_is_there_for_other_tools) {
    run_training(plan(), reporter);
    for (const CompiledProgram& program : reporter.programs) {
        const auto base = folder.path() / "reports/job/graphs" / program.hash;
        const std::string stablehlo = read_file(fs::path(base) += ".mlir");
        EXPECT_THAT(stablehlo, HasSubstr("stablehlo.dot_general"));
        EXPECT_THAT(stablehlo, HasSubstr("mhlo.num_replicas = 8"));
        const fs::path problems = folder.path() / "problems";
        const std::string command =
            fmt::format("mlir-opt-19 --allow-unregistered-dialect {}.mlir -o /dev/null 2> {}",
                        base.string(), problems.string());
        EXPECT_EQ(std::system(command.c_str()), 0) << read_file(problems).substr(0, 2000);
        const std::string dot = read_file(fs::path(base) += ".dot");
        EXPECT_TRUE(dot.starts_with("digraph step {\n"));
        EXPECT_THAT(dot, HasSubstr("subgraph cluster_0 {\nlabel=\"kernel 0\"\n"));
        EXPECT_THAT(dot, HasSubstr("[label=\"dot_general\\nf32["));
        EXPECT_THAT(dot, HasSubstr("name=features"));
    }
}

TEST_F(RunExplained, the_trace_has_a_track_for_each_thread_and_every_step) {
    run_training(plan(), reporter);
    const Json trace = read("trace.json");
    std::map<std::string, int> tracks, names;
    for (const Json& event : trace["traceEvents"]) {
        if (event["name"] == "thread_name") ++tracks[event["args"]["name"]];
        if (event["ph"] != "X") continue;
        ++names[event["name"]];
        EXPECT_GE(event["ts"], 0);
        EXPECT_GE(event["dur"], 0);
    }
    EXPECT_EQ(tracks, (std::map<std::string, int>{
                          {"trainer 0", 1}, {"worker 0", 1}, {"worker 1", 1}, {"loader 0", 1}}));
    EXPECT_EQ(names["execute"], 100);
    EXPECT_EQ(names["input_wait"], 100);
    EXPECT_EQ(names["read batch"], 100);
    EXPECT_EQ(names["trace"], 2);
    EXPECT_EQ(names["compile"], 2);
    EXPECT_EQ(names["evaluate"], 20);
    EXPECT_GT(names["all_reduce"], 0);
    EXPECT_EQ(names["step"], 4);    // two timelines, two workers
}

// Goal: how many threads there are in the end depends on the machine; what is said of it does not.
TEST_F(RunExplained, the_report_says_how_many_threads_and_which_instruction_set) {
    AttemptPlan choosing = plan();
    choosing.keeps_workers = false;
    run_training(choosing, reporter);
    const Json report = read("report.json");
    EXPECT_EQ(report["threads"]["granted"], 2);
    const int used = report["threads"]["used"];
    EXPECT_TRUE(used == 1 || used == 2) << used;
    const std::string reason = report["threads"]["reason"];
    EXPECT_TRUE(reason.empty() || reason.find("a step takes") != std::string::npos) << reason;
    EXPECT_TRUE(instruction_set_from(std::string(report["instruction_set"]))) << report;
    ASSERT_EQ(report["workers"].size(), 2U);
}

TEST_F(RunExplained, what_is_written_is_announced_and_said_at_the_end) {
    run_training(plan(), reporter);
    ASSERT_GE(reporter.reports.size(), 2U);
    EXPECT_FALSE(reporter.reports.front().finished);
    EXPECT_TRUE(reporter.reports.back().finished);
    EXPECT_EQ(reporter.reports.back().verdict,
              read("report.json")["verdict"]["kind"].get<std::string>());
    EXPECT_EQ(reporter.logs.back(), reporter.reports.back().message);
}

TEST_F(RunExplained, one_core_is_reported_as_one_whatever_its_parts) {
    run_training(plan(1), reporter);
    EXPECT_EQ(read("report.json")["cores"].size(), 1U);
}

TEST_F(RunExplained, a_run_that_fails_is_explained_too) {
    AttemptPlan one = plan();
    one.spec.train.optimizer.lr = 1e30;
    EXPECT_THROW(run_training(one, reporter), TrainError);
    EXPECT_TRUE(read("report.json")["finished"]);
}

TEST_F(RunExplained, without_a_place_to_write_training_goes_on) {
    AttemptPlan one = plan();
    one.report_folder = folder.write("file", "in the way") / "reports";
    run_training(one, reporter);
    EXPECT_EQ(reporter.warnings, std::vector<std::string>{"report_failed"});
    EXPECT_TRUE(reporter.reports.empty());
    one.report_folder.clear();
    one.checkpoint_folder = folder.path() / "others";
    run_training(one, reporter);
    EXPECT_EQ(reporter.warnings.size(), 1U);
}

TEST_F(RunExplained, a_cache_that_cannot_be_used_is_said_and_done_without) {
    AttemptPlan one = plan();
    one.cache_folder = folder.write("cache", "in the way");
    run_training(one, reporter);
    EXPECT_EQ(reporter.warnings, std::vector<std::string>{"cache_unusable"});
    AttemptPlan two = plan();
    two.cache_folder = folder.path() / "compile_cache";
    two.checkpoint_folder = folder.path() / "others";
    run_training(two, reporter);
    EXPECT_EQ(reporter.warnings.size(), 1U);
    EXPECT_EQ(read("report.json")["compile_cache"]["failed"], 0);
}

std::int64_t peak_of(const AttemptPlan& plan) {
    ReportReporter reporter;
    run_training(plan, reporter);
    return std::max(reporter.programs[0].peak_bytes, reporter.programs[1].peak_bytes);
}

TEST_F(RunExplained, a_job_over_its_memory_is_told_the_largest_batch_that_fits) {
    AttemptPlan fits = plan(8);
    fits.spec.train.epochs = 1;
    fits.spec.train.batch_size_per_core = 3;
    const std::int64_t limit = peak_of(fits);
    for (const std::int64_t batch : {4, 8, 16}) {
        AttemptPlan over = fits;
        over.spec.train.batch_size_per_core = batch;
        over.memory_bytes_max = limit;
        try {
            run_training(over, reporter);
            ADD_FAILURE() << "a batch of " << batch << " was run";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "out_of_memory");
            EXPECT_THAT(error.what(), HasSubstr("the largest train.batch_size_per_core that fits"
                                                " is 3"))
                << batch;
        }
    }
    fits.memory_bytes_max = limit;
    fits.checkpoint_folder = folder.path() / "others";
    run_training(fits, reporter);
    fits.memory_bytes_max = 1000;
    try {
        run_training(fits, reporter);
        ADD_FAILURE() << "1000 bytes were enough";
    } catch (const TrainError& error) {
        EXPECT_THAT(error.what(), HasSubstr("not even one sample per core fits"));
    }
}

}    // namespace
}    // namespace slipway
