// Goal: the commands do what they say against the real routes. What they print is for people, so
// only the parts that scripts rely on are compared.
#include "api/client/commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/base/id.h"
#include "api/base/sha256.h"
#include "api/client/follow.h"
#include "scheduler/store/datasets.h"
#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"

namespace slipway::client {
namespace {

struct Commands : testing::Test {
    TestService service;
    TempFolder work;
    HttpClient client = service.client(service.admin);

    std::string printed(const std::function<void()>& command) {
        testing::internal::CaptureStdout();
        command();
        return testing::internal::GetCapturedStdout();
    }
    std::string listed(const Listing& listing) {
        return printed([&] { print_listing(listing, "table"); });
    }
    std::string spec_file() { return work.write("job.json", TestService::spec().dump()).string(); }

    // The check that an agent would make, as soon as there is something to check.
    std::jthread checker(bool ready) {
        return std::jthread([this, ready] {
            std::optional<store::DatasetCheck> check;
            ASSERT_TRUE(eventually([&] {
                check = store::claim_dataset_check(service.store, "here", std::chrono::minutes{1});
                return check.has_value();
            }));
            store::finish_dataset_check(
                service.store, check->dataset.id, check->fence,
                {.ready = ready,
                 .report = ready ? "{}" : "",
                 .problems =
                     ready ? ""
                           : R"([{"file":"x.csv","row":3,"field":"age","message":"no number"}])",
                 .content_hash = ready ? "abc" : "",
                 .bytes = 0});
        });
    }
};

TEST_F(Commands, submit_prints_the_id) {
    service.ready_dataset("points");
    std::string out =
        printed([&] { EXPECT_EQ(submit(client, {.file = spec_file()}), ExitCode::ok); });
    ASSERT_TRUE(out.starts_with("job_")) << out;
    out.pop_back();
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + out)["state"], "queued");
    EXPECT_NE(listed(list_jobs(client, {})).find(out), std::string::npos);
    EXPECT_NE(printed([&] { act_on_job(client, out, "cancel"); }).find("cancelled"),
              std::string::npos);
}

TEST_F(Commands, lists_go_on_behind_their_first_page) {
    for (int i = 0; i < 205; ++i)
        service.token(Role::viewer);
    const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
    EXPECT_EQ(lines(listed(list_tokens(client))), 1 + 206);

    service.ready_dataset("points");
    for (int i = 0; i < 3; ++i)
        service.submit();
    for (const int limit : {2, 3, 300})
        EXPECT_EQ(lines(listed(list_jobs(client, {.state = "", .limit = limit}))),
                  1 + std::min(limit, 3));
    for (const int limit : {2, 3}) {
        testing::internal::CaptureStderr();
        listed(list_jobs(client, {.state = "", .limit = limit}));
        const std::string warned = testing::internal::GetCapturedStderr();
        EXPECT_EQ(warned.find("more than 2 jobs; --limit") != std::string::npos, limit == 2)
            << warned;
    }
}

TEST_F(Commands, a_refused_spec_names_its_fields) {
    try {
        submit(client, {.file = spec_file()});
        ADD_FAILURE() << "there is no such dataset";
    } catch (const Stop& stop) {
        EXPECT_EQ(stop.code(), ExitCode::refused);
        EXPECT_NE(std::string(stop.what()).find("/data/dataset"), std::string::npos);
    }
    try {
        submit(client, {.file = "/nowhere.json"});
        ADD_FAILURE() << "there is no such file";
    } catch (const Stop& stop) {
        EXPECT_EQ(stop.code(), ExitCode::usage);
    }
}

TEST_F(Commands, follow_ends_with_the_job) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    std::string out;
    {
        std::jthread trainer([&] {
            const auto key = service.run(job);
            service.relay(
                key,
                {{.number = 3,
                  .events = {
                      {"progress", R"({"epoch":1,"epochs":4,"step":10,"steps_total":40})"},
                      {"metric", R"({"step":10,"epoch":1,"values":{"val_accuracy":0.9375}})"}}}});
            service.finish(key);
        });
        out = printed([&] { EXPECT_EQ(follow_job(client, job), ExitCode::ok); });
    }
    EXPECT_NE(out.find("succeeded, validation accuracy 0.9375"), std::string::npos) << out;
    EXPECT_NE(out.find("\n  slipway metrics " + job + "\n"), std::string::npos) << out;
    EXPECT_TRUE(out.ends_with("/#/jobs/" + job + "\n")) << out;
}

TEST_F(Commands, follow_tells_a_failure) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    service.finish(service.run(job), JobState::failed);
    printed([&] { EXPECT_EQ(follow_job(client, job), ExitCode::job_failed); });
    const std::string other = service.submit();
    service.expect(200, "POST", "/v1/jobs/" + other + "/cancel");
    printed([&] { EXPECT_EQ(follow_job(client, other), ExitCode::cancelled); });
}

TEST_F(Commands, metrics_are_printed) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    service.relay(
        service.run(job),
        {{.number = 3, .metrics = {{.name = "train_loss", .step = 10, .epoch = 1, .value = 0.5}}}});
    const std::string out = listed(list_metrics(client, job, ""));
    EXPECT_NE(out.find("train_loss  10"), std::string::npos) << out;
}

TEST_F(Commands, a_report_is_printed_for_people_and_for_programs) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    EXPECT_THROW(print_report(client, job, false), Stop);
    const std::string hash(32, 'a');
    const auto write = [&](const std::string& name, const std::string& text) {
        service.folder.write("store/reports/" + job + "/" + name, text);
    };
    write("report.txt", "Metric: CompileTime\n");
    write("report.json", "{}");
    write("trace.json", R"({"traceEvents":[]})");
    write("graphs.json", R"([{"hash":")" + hash + R"(","memory":{"peak_bytes":5000000}}])");
    write("graphs/" + hash + ".json", R"({"ir":"%0 = input\n","text":"program\n"})");
    EXPECT_EQ(printed([&] { print_report(client, job, false); }), "Metric: CompileTime\n");
    EXPECT_EQ(printed([&] { print_report(client, job, true); }), "{}\n");
    EXPECT_EQ(printed([&] { print_trace(client, job); }), "{\"traceEvents\":[]}\n");
    EXPECT_NE(printed([&] { print_graphs(client, job, "", "ir"); }).find("5.0 MB"),
              std::string::npos);
    EXPECT_EQ(printed([&] { print_graphs(client, job, hash, "program"); }), "program\n");
    write("graphs/" + hash + ".dot", "digraph step {}\n");
    EXPECT_EQ(printed([&] { print_graphs(client, job, hash, "dot"); }), "digraph step {}\n");
    EXPECT_THROW(print_graphs(client, job, hash, "svg"), Stop);
    EXPECT_THROW(print_graphs(client, job, std::string(32, 'b'), "ir"), Stop);
}

TEST_F(Commands, a_file_is_uploaded_and_becomes_a_dataset) {
    const std::string bytes = some_bytes(300000);
    const std::string path = work.write("points.zip", bytes).string();
    const std::jthread check = checker(true);
    const std::string out = printed([&] {
        EXPECT_EQ(create_dataset(client, {.name = "sent", .format = "csv", .upload = path}),
                  ExitCode::ok);
    });
    EXPECT_TRUE(out.starts_with("sent (ds_")) << out;
    const Json dataset = service.expect(200, "GET", "/v1/datasets/sent");
    const std::string upload = dataset["source"].value("upload", "");
    EXPECT_EQ(sha256_file(service.folder.path() / "store/uploads" / upload), sha256_hex(bytes));
}

TEST_F(Commands, a_dataset_that_fails_its_check_says_why) {
    const std::string request =
        work.write("d.json", R"({"name":"d","format":"csv","source":{"path":"points"}})").string();
    const std::jthread check = checker(false);
    const std::string out = printed(
        [&] { EXPECT_EQ(create_dataset(client, {.name = request}), ExitCode::job_failed); });
    EXPECT_NE(out.find("x.csv:3: age: no number"), std::string::npos) << out;
    EXPECT_NE(printed([&] { show_dataset(client, "d"); }).find("failed"), std::string::npos);
    EXPECT_THROW(show_dataset(client, "other"), Stop);
}

TEST_F(Commands, a_download_is_gone_on_with_and_checked) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    const std::string bytes = some_bytes(200000);
    const std::string id = new_id("ckp");
    service.folder.write("store/checkpoints/" + job + "/c/model.safetensors", bytes);
    const auto files = Json::array(
        {{{"name", "model.safetensors"}, {"bytes", bytes.size()}, {"sha256", sha256_hex(bytes)}}});
    service.relay(
        service.run(job),
        {{.number = 3,
          .checkpoint = store::RelayedCheckpoint{
              .id = id, .name = "c", .step = 1, .kinds = {"last"}, .files = files.dump()}}});
    const std::string target = (work.path() / "model").string();
    work.write("model.part", bytes.substr(0, 70000));
    printed([&] { download(client, id, "model.safetensors", target); });
    EXPECT_EQ(read_file(target), bytes);
    // The beginning of some other file: noticed, and not left behind.
    work.write("other.part", std::string(70000, 'x'));
    EXPECT_THROW(download(client, id, "model.safetensors", (work.path() / "other").string()), Stop);
    EXPECT_FALSE(std::filesystem::exists(work.path() / "other"));
    EXPECT_FALSE(std::filesystem::exists(work.path() / "other.part"));
    EXPECT_THROW(download(client, id, "nothing", target), Stop);
    EXPECT_NE(listed(list_checkpoints(client, job)).find(id), std::string::npos);
}

}    // namespace
}    // namespace slipway::client
