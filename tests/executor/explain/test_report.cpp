#include "executor/explain/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/spec/documents.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 10 s: 1 s compiling, 1 s waiting for input, 4 s of steps on two workers that are idle a quarter
/// of it; kernels: three quarters arithmetic.
ReportFacts some_facts() {
    ReportFacts facts;
    facts.step = 50;
    facts.wall_s = 10;
    facts.cpu_s = 8;
    facts.phases[std::size_t(Phase::compile)] = 1;
    facts.phases[std::size_t(Phase::input_wait)] = 1;
    facts.phases[std::size_t(Phase::execute)] = 4;
    facts.phases[std::size_t(Phase::evaluate)] = 3;
    facts.workers = {{.running = 4, .waiting = 1, .reducing = 0.5}, {.running = 4, .waiting = 0.5}};
    facts.worker_cpus = {1, std::nullopt};
    facts.core_busy_s = {{1, 3.5}, {2, 2.5}};
    facts.kernels = {{.name = "dot_general",
                      .per_core = true,
                      .arithmetic = true,
                      .calls = 8,
                      .seconds = 0.03,
                      .bytes = 3000},
                     {.name = "add", .calls = 2, .seconds = 0.01, .bytes = 1000}};
    facts.graphs = Json::array();
    return facts;
}

TEST(Report, shares_come_from_phases_workers_and_kernels) {
    const TimeShares shares = time_shares(some_facts());
    EXPECT_DOUBLE_EQ(shares.compile, 1.0 / 6);
    EXPECT_DOUBLE_EQ(shares.input, 1.0 / 6);
    EXPECT_DOUBLE_EQ(shares.sync, 1.0 / 6);
    EXPECT_DOUBLE_EQ(shares.memory, 0.75 / 6);
    EXPECT_DOUBLE_EQ(shares.compute, 2.25 / 6);
    EXPECT_EQ(verdict_of(some_facts()).kind, "compute_bound");
}

TEST(Report, of_nothing_is_a_report_too) {
    ReportFacts facts;
    facts.graphs = Json::array();
    const Json report = report_json(facts, Metrics());
    EXPECT_TRUE(check_document("Report", report).empty());
    EXPECT_EQ(report["verdict"]["kind"], "compute_bound");
    EXPECT_THAT(report_text(facts, Metrics()), StartsWith("Verdict: "));
}

TEST(Report, keeps_the_contract_and_adds_up) {
    ReportFacts facts = some_facts();
    facts.cache = {{"hits", 3}};
    const Json report = report_json(facts, Metrics());
    for (const Problem& problem : check_document("Report", report))
        ADD_FAILURE() << problem.pointer << " " << problem.message;
    EXPECT_EQ(report["phases"]["other"], 1);
    EXPECT_EQ(report["cores"][0]["busy_share"], 0.875);
    EXPECT_EQ(report["workers"][0]["cpu"], 1);
    EXPECT_EQ(report["workers"][1]["cpu"], nullptr);
    EXPECT_EQ(report["kernels"][0]["share"], 0.75);
    EXPECT_EQ(report["kernels"][0]["bytes_per_s"], 100000);
    EXPECT_EQ(report["compile_cache"]["hits"], 3);
}

// Goal: a worker that runs no steps, since fewer are as fast, is not taken for one that waits.
TEST(Report, says_how_many_threads_run_the_steps_and_why) {
    ReportFacts facts = some_facts();
    facts.instruction_set = "avx2";
    facts.threads = {.granted = 2, .used = 1, .reason = "1 of 2 worker threads: a step …"};
    facts.workers = {{.running = 4}, {}};
    const Json report = report_json(facts, Metrics());
    EXPECT_TRUE(check_document("Report", report).empty());
    EXPECT_EQ(report["instruction_set"], "avx2");
    EXPECT_EQ(report["threads"]["granted"], 2);
    EXPECT_EQ(report["threads"]["used"], 1);
    EXPECT_EQ(time_shares(facts).sync, 0);
    const std::string text = report_text(facts, Metrics());
    EXPECT_THAT(text, HasSubstr("Instruction set: avx2\nWorker threads: 1 of 2 worker threads"));
    facts.threads = {.granted = 2, .used = 2, .reason = ""};
    EXPECT_THAT(report_text(facts, Metrics()), HasSubstr("Worker threads: 2 of 2\n"));
}

TEST(Report, names_the_values_of_an_epoch_that_are_no_numbers) {
    ReportFacts facts = some_facts();
    facts.epochs = {{.epoch = 1, .values = {{"train_loss", 0.5}, {"val_loss", 0.25}}},
                    {.epoch = 2, .values = {{"train_loss", 0.5}, {"val_loss", std::nan("")}}}};
    const Json report = Json::parse(report_json(facts, Metrics()).dump());
    for (const Problem& problem : check_document("Report", report))
        ADD_FAILURE() << problem.pointer << " " << problem.message;
    EXPECT_FALSE(report["epochs"][0].contains("nonfinite"));
    EXPECT_EQ(report["epochs"][1]["values"]["val_loss"], nullptr);
    EXPECT_EQ(report["epochs"][1]["values"]["train_loss"], 0.5);
    EXPECT_EQ(report["epochs"][1].value("nonfinite", Json()), (Json{{"val_loss", "nan"}}));
}

TEST(Report, says_when_other_programs_take_the_cpus) {
    ReportFacts facts = some_facts();
    EXPECT_THAT(report_text(facts, Metrics()), testing::Not(HasSubstr("other programs")));
    facts.cpu_s = 3.9;    // of 6.5 s that the workers computed
    EXPECT_THAT(report_text(facts, Metrics()), HasSubstr("got a CPU for only 60 %"));
}

TEST(Report, notes_what_is_unusual) {
    Metrics metrics;
    metrics.count(Counter::uncached_compile, 21);
    metrics.count(Counter::mark_step, 11);
    ReportFacts facts = some_facts();
    facts.late_compiles = 19;
    const std::string text = report_text(facts, metrics);
    EXPECT_THAT(text, HasSubstr("Note: CompileTime too frequent: 21 counts during 11 steps\n"));
    EXPECT_THAT(text, HasSubstr("Note: 19 compiles after warm-up"));
    for (int i = 0; i < 5; ++i)
        metrics.add(Metric::trace_time, 1, Tick());
    metrics.add(Metric::execute_time, 10, Tick());
    EXPECT_THAT(report_text(facts, metrics), HasSubstr("tracing bound: TraceTime is 50 %"));
}

TEST(Report, notes_bf16_that_saves_no_time) {
    ReportFacts facts = some_facts();
    EXPECT_THAT(report_text(facts, Metrics()), Not(HasSubstr("bf16")));
    facts.bottleneck.widens_bf16 = true;
    EXPECT_THAT(report_text(facts, Metrics()),
                HasSubstr("Note: this CPU has no instructions that multiply bf16"));
}

}    // namespace
}    // namespace slipway
