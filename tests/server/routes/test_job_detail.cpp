#include <gtest/gtest.h>

#include <thread>

#include <cmath>
#include <fstream>
#include <set>

#include "api/base/id.h"
#include "api/base/sha256.h"
#include "api/client/sse_parser.h"
#include "api/spec/documents.h"
#include "scheduler/store/attempts.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

store::RelayedFrame said(std::int64_t number, const std::string& level, const std::string& text) {
    return {.number = number,
            .events = {{"log", Json{{"level", level}, {"message", text}}.dump()}}};
}

store::RelayedFrame measured(std::int64_t number, std::int64_t step, double value) {
    return {.number = number,
            .events =
                {{"metric",
                  Json{{"step", step}, {"epoch", 1}, {"values", {{"train_loss", value}}}}.dump()}},
            .metrics = {{.name = "train_loss", .step = step, .epoch = 1, .value = value}}};
}

struct JobDetail : testing::Test {
    TestService service;
    std::string job;
    std::string path;
    store::AttemptKey key;

    JobDetail() {
        service.ready_dataset("points");
        job = service.submit();
        path = "/v1/jobs/" + job;
        key = service.run(job);
    }

    // A checkpoint with one file of these bytes, on the disk and in the database; its id.
    std::string checkpoint(const std::string& bytes) {
        const std::string id = new_id("ckp");
        const std::string name = "step_000010_attempt_1";
        service.folder.write("store/checkpoints/" + job + "/" + name + "/model.safetensors", bytes);
        service.folder.write("store/checkpoints/" + job + "/" + name + "/hidden", "not listed");
        const Json files = Json::array({{{"name", "model.safetensors"},
                                         {"bytes", bytes.size()},
                                         {"sha256", sha256_hex(bytes)}}});
        service.relay(key, {{.number = 50,
                             .checkpoint = store::RelayedCheckpoint{.id = id,
                                                                    .name = name,
                                                                    .step = 10,
                                                                    .epoch = 1,
                                                                    .kinds = {"last", "best"},
                                                                    .files = files.dump(),
                                                                    .bytes = 10,
                                                                    .metric_name = "val_loss",
                                                                    .metric_value = 0.5}}});
        return id;
    }
};

TEST_F(JobDetail, events_are_listed_from_any_number_on) {
    service.relay(key, {said(3, "info", "hello"), measured(4, 1, 0.5)});
    const Json all = service.expect(200, "GET", path + "/events");
    EXPECT_TRUE(check_document("EventList", all).empty());
    std::int64_t next = 1;
    for (const Json& event : all["items"])
        EXPECT_EQ(event["seq"], next++);
    const Json rest = service.expect(200, "GET", path + "/events?after=2&limit=1");
    ASSERT_EQ(rest["items"].size(), 1U);
    EXPECT_EQ(rest["items"][0]["seq"], 3);
    const Json metrics = service.expect(200, "GET", path + "/events?types=metric");
    ASSERT_EQ(metrics["items"].size(), 1U);
    EXPECT_EQ(metrics["items"][0]["body"]["values"]["train_loss"], 0.5);
    service.expect(422, "GET", path + "/events?types=rumour");
    service.expect(422, "GET", path + "/events?after=-1");
}

TEST_F(JobDetail, events_and_logs_say_where_to_go_on) {
    const std::string wide(300'000, 'x');
    for (int i = 3; i < 11; ++i)
        service.relay(key, {said(i, "info", wide)});
    for (const std::string& list : {path + "/events", path + "/logs"}) {
        std::string after = "0";
        int pages = 0, lines = 0;
        do {
            const Json page = service.expect(200, "GET", list + "?after=" + after);
            for (const Json& item : page["items"])
                lines += item.value("type", "log") == "log" ? 1 : 0;
            EXPECT_LT(page.dump().size(), 1'500'000U);
            after = page["next_cursor"].is_null() ? "" : page["next_cursor"].get<std::string>();
            ++pages;
        } while (!after.empty() && pages < 10);
        EXPECT_EQ(lines, 8) << list;
        EXPECT_EQ(pages, 3) << list;
    }
}

// Goal: a client that loses its connection again and again sees every number once.
// Method: cut after each few bytes, come back with Last-Event-ID, while events are being written.
TEST_F(JobDetail, a_stream_that_breaks_off_is_taken_up_again) {
    std::jthread writer([&] {
        for (std::int64_t number = 3; number < 103; ++number)
            service.relay(key, {measured(number, number, 0.5)});
        service.finish(key);
    });
    std::vector<std::int64_t> seen;
    std::string last;
    bool ended = false;
    int connections = 0;
    while (!ended && connections < 2000) {
        ++connections;
        std::size_t budget = 200 + std::size_t(connections % 7) * 150;
        client::SseParser parser([&](const client::SseEvent& event) {
            last = event.id;
            seen.push_back(std::stoll(event.id));
            ended = event.type == "end";
        });
        client::ClientRequest request{.target = path + "/events"};
        request.headers = {{"Accept", "text/event-stream"}};
        if (!last.empty()) request.headers.push_back({"Last-Event-ID", last});
        const auto response =
            service.client(service.admin).stream(request, [&](std::string_view bytes) {
                const std::string_view taken = bytes.substr(0, budget);
                parser.feed(taken);
                budget -= taken.size();
                return budget > 0 && !ended;
            });
        ASSERT_EQ(response.status, 200);
    }
    EXPECT_TRUE(ended);
    for (std::size_t i = 0; i < seen.size(); ++i)
        ASSERT_EQ(seen[i], std::int64_t(i) + 1);
    EXPECT_GT(connections, 3);
}

TEST_F(JobDetail, the_log_is_readable_as_json_and_as_text) {
    service.relay(key, {said(3, "info", "first"),
                        said(4, "warn", "second"),
                        {.number = 5, .events = {{"warning", R"({"code":"c","message":"third"})"}}},
                        said(6, "error", "fourth")});
    const auto messages = [&](const std::string& query) {
        std::string found;
        const Json list = service.expect(200, "GET", path + "/logs" + query);
        EXPECT_TRUE(check_document("LogList", list).empty());
        for (const Json& line : list["items"])
            found += line.value("message", "") + " ";
        return found;
    };
    EXPECT_EQ(messages(""), "first second third fourth ");
    EXPECT_EQ(messages("?level=warn"), "second third fourth ");
    EXPECT_EQ(messages("?level=error"), "fourth ");
    EXPECT_EQ(messages("?limit=2"), "first second ");
    const auto text = service.call("GET", path + "/logs", nullptr, {{"Accept", "text/plain"}});
    EXPECT_TRUE(text.header("Content-Type").starts_with("text/plain"));
    EXPECT_NE(text.body.find("warn  second\n"), std::string::npos) << text.body;
    EXPECT_EQ(text.header("Link"), "");
}

TEST_F(JobDetail, the_log_is_searched) {
    service.relay(key, {said(3, "info", "Loss is 0.5"), said(4, "info", "50% done"),
                        said(5, "error", "the loss is Größe & nan"), said(6, "info", "end")});
    const auto found = [&](const std::string& text) {
        Json numbers = Json::array();
        const Json list =
            service.expect(200, "GET", path + "/logs?q=" + client::percent_encode(text));
        for (const Json& line : list["items"])
            numbers.push_back(line["message"].get<std::string>().substr(0, 3));
        EXPECT_TRUE(list["next_cursor"].is_null());
        return numbers;
    };
    EXPECT_EQ(found("LOSS IS"), (Json{"Los", "the"}));
    EXPECT_EQ(found("%"), Json::array({"50%"}));
    EXPECT_EQ(found("Größe & n"), Json::array({"the"}));
    EXPECT_EQ(found(".*"), Json::array());
    EXPECT_EQ(service.expect(200, "GET", path + "/logs?q=loss&level=error")["items"].size(), 1U);
    const auto text = service.call("GET", path + "/logs?limit=1&q=loss%20is%20", nullptr,
                                   {{"Accept", "text/plain"}});
    EXPECT_NE(text.header("Link").find("&limit=1&q=loss%20is%20>"), std::string::npos)
        << text.header("Link");
}

// Goal: a search that finds nothing in a long log costs one answer little, and says where it
// stands.
TEST_F(JobDetail, a_search_of_a_long_log_goes_on_with_the_next_page) {
    std::vector<store::RelayedFrame> frames;
    for (int i = 0; i < 30'000; ++i)
        frames.push_back(said(3 + i, "info", i == 29'999 ? "the needle" : "hay"));
    service.relay(key, frames);
    const Json first = service.expect(200, "GET", path + "/logs?q=needle");
    EXPECT_TRUE(first["items"].empty());
    const Json second = service.expect(
        200, "GET", path + "/logs?q=needle&after=" + first["next_cursor"].get<std::string>());
    EXPECT_EQ(second["items"].size(), 1U);
}

TEST_F(JobDetail, the_log_as_text_says_where_it_goes_on) {
    service.relay(key,
                  {said(3, "warn", "first"), said(4, "info", "second"), said(5, "warn", "third"),
                   said(6, "warn", "fourth"), said(7, "warn", "fifth")});
    std::string told;
    std::string target = path + "/logs?limit=2&level=warn";
    for (int pages = 0; !target.empty() && pages < 5; ++pages) {
        const auto page = service.call("GET", target, nullptr, {{"Accept", "text/plain"}});
        ASSERT_EQ(page.status, 200) << page.body;
        told += page.body;
        const std::string link(page.header("Link"));
        if (!link.empty()) EXPECT_TRUE(link.ends_with(">; rel=\"next\"")) << link;
        target = link.empty() ? "" : link.substr(1, link.find('>') - 1);
    }
    EXPECT_EQ(std::ranges::count(told, '\n'), 4) << told;
    EXPECT_EQ(told.find("second"), std::string::npos);
    EXPECT_NE(told.find("fifth\n"), std::string::npos);
}

TEST_F(JobDetail, curves_are_whole_or_honestly_thinned) {
    std::vector<store::RelayedFrame> frames;
    for (std::int64_t step = 1; step <= 300; ++step)
        frames.push_back(measured(step + 2, step, step == 150 ? 9.0 : 1.0 / double(step)));
    frames.push_back(measured(400, 301, std::nan("")));
    service.relay(key, frames);
    const Json whole = service.expect(200, "GET", path + "/metrics");
    EXPECT_TRUE(check_document("MetricList", whole).empty());
    ASSERT_EQ(whole["series"].size(), 1U);
    EXPECT_EQ(whole["series"][0]["points"].size(), 301U);
    EXPECT_EQ(whole["series"][0]["points"][149]["value"], 9.0);
    EXPECT_TRUE(whole["series"][0]["points"][300]["value"].is_null());
    EXPECT_EQ(whole["series"][0]["points"][300]["nonfinite"], "nan");

    const Json thin = service.expect(200, "GET", path + "/metrics?names=train_loss&resolution=10");
    EXPECT_TRUE(check_document("MetricList", thin).empty());
    const Json& points = thin["series"][0]["points"];
    ASSERT_LE(points.size(), 10U);
    double max = 0;
    std::int64_t count = 0;
    for (const Json& point : points) {
        max = std::max(max, point["max"].get<double>());
        count += point["count"].get<std::int64_t>();
    }
    EXPECT_EQ(max, 9.0) << "the spike must not be lost";
    EXPECT_NEAR(points[0]["mean"].get<double>(), 0.12683, 1e-4) << "of 1/1 to 1/32";
    EXPECT_EQ(count, 301);
    EXPECT_EQ(points.back()["step"], 301);

    const Json part = service.expect(200, "GET", path + "/metrics?step_min=10&step_max=12");
    EXPECT_EQ(part["series"][0]["points"].size(), 3U);
    EXPECT_EQ(service.expect(200, "GET", path + "/metrics?names=other")["series"][0]["points"],
              Json::array());
    service.expect(422, "GET", path + "/metrics?resolution=-1");
}

TEST_F(JobDetail, curves_of_several_jobs_come_in_one_answer) {
    const std::string other = service.submit();
    const std::string jobs = "/v1/metrics?jobs=" + key.job_id + "," + other;
    const Json answer = service.expect(200, "GET", jobs + "&resolution=10");
    EXPECT_TRUE(check_document("JobMetricList", answer).empty()) << answer.dump(2);
    ASSERT_EQ(answer["jobs"].size(), 2U);
    EXPECT_EQ(answer["jobs"][0]["job_id"], key.job_id);
    EXPECT_EQ(answer["jobs"][1]["job_id"], other);
    EXPECT_EQ(answer["jobs"][1]["series"], Json::array());
    const Json alone = service.expect(200, "GET", path + "/metrics?resolution=10")["series"];
    EXPECT_EQ(answer["jobs"][0]["series"], alone);
    const Json named = service.expect(200, "GET", jobs + "&names=nothing")["jobs"][0]["series"];
    EXPECT_EQ(named, Json::array());
    service.expect(422, "GET", "/v1/metrics");
    service.expect(404, "GET", "/v1/metrics?jobs=" + key.job_id + "," + new_id("job"));
    service.expect(404, "GET", "/v1/metrics?jobs=job_1");
    std::string many = "/v1/metrics?jobs=" + key.job_id;
    for (int i = 0; i < 100; ++i)
        many += "," + new_id("job");
    service.expect(422, "GET", many);
}

// Goal: however many metrics a job has, an answer has a bounded number of curves.
TEST_F(JobDetail, curves_of_one_answer_are_limited) {
    service.database.sql(
        fmt::format("insert into metric_chunk (job_id, name, first_point, points, step_first, "
                    "step_last, attempt, data) "
                    "select '{}', 'metric_' || lpad(n::text, 4, '0'), 0, 1, 1, 1, 1, "
                    "'\\x00' || int8send(1) || int8send(1) || float8send(0.5) || int4send(1) "
                    "|| int8send(0) from generate_series(1, 1005) as n",
                    key.job_id));
    const Json series = service.expect(200, "GET", path + "/metrics")["series"];
    ASSERT_EQ(series.size(), 1000U);
    EXPECT_EQ(series[999]["name"], "metric_1000");
    EXPECT_EQ(service.expect(200, "GET", path + "/metrics?names=metric_1005")["series"].size(), 1U);
    std::string names = "names=0";
    for (int i = 1; i <= 1000; ++i)
        names += "," + std::to_string(i);
    service.expect(422, "GET", path + "/metrics?" + names);
}

// Goal: the newest points of a curve of any length are in its answer, and so are its spikes.
// Method: the points of an answer are shared by its curves; of 100 each has 2,000.
TEST_F(JobDetail, long_curves_are_thinned_over_their_whole_length) {
    store::RelayedFrame frame{.number = 3};
    for (std::int64_t step = 1; step <= 5000; ++step) {
        const double value = step == 1234 ? 9 : step == 2000 ? std::nan("") : 1 / double(step);
        frame.metrics.push_back({.name = "train_loss", .step = step, .epoch = 1, .value = value});
    }
    service.relay(key, {frame});
    std::string names = "names=train_loss";
    for (int i = 0; i < 99; ++i)
        names += fmt::format(",n{}", i);
    for (const bool asked : {false, true}) {
        const Json answer = service.expect(
            200, "GET", path + "/metrics?" + names + (asked ? "&resolution=1000" : ""));
        EXPECT_TRUE(check_document("MetricList", answer).empty());
        const Json& series = answer["series"][0];
        EXPECT_EQ(series.value("thinned", false), !asked);
        const Json& points = series["points"];
        EXPECT_EQ(points.size(), asked ? 625U : 1250U) << "of 8 and of 4 points";
        double max = 0;
        std::int64_t count = 0;
        std::int64_t nonfinite = 0;
        for (const Json& point : points) {
            if (!point["max"].is_null()) max = std::max(max, point["max"].get<double>());
            count += point["count"].get<std::int64_t>();
            nonfinite += point.value("nonfinite_count", 0);
        }
        EXPECT_EQ(points.back()["step"], 5000);
        EXPECT_EQ(count, 5000);
        EXPECT_EQ(max, 9.0) << "the spike must not be lost";
        EXPECT_EQ(nonfinite, 1);
    }
    const auto table = service.call("GET", path + "/metrics.csv?" + names);
    EXPECT_NE(table.body.find("train_loss,5000,1,"), std::string::npos);
    EXPECT_EQ(std::ranges::count(table.body, '\n'), 1251);
    EXPECT_EQ(table.header("X-Thinned"), "true");
    EXPECT_EQ(service.call("GET", path + "/metrics.csv?names=train_loss").header("X-Thinned"), "");
    // Alone it has its points.
    const Json alone = service.expect(200, "GET", path + "/metrics?names=train_loss");
    EXPECT_EQ(alone["series"][0]["points"].size(), 5000U);
    EXPECT_FALSE(alone["series"][0].contains("thinned"));
}

TEST_F(JobDetail, curves_come_as_a_table_too) {
    service.relay(key, {measured(3, 1, 0.5), measured(4, 2, 0.25)});
    const auto response = service.call("GET", path + "/metrics.csv");
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.header("Content-Type").starts_with("text/csv"));
    EXPECT_TRUE(response.body.starts_with("name,step,epoch,value,time\ntrain_loss,1,1,0.5,"))
        << response.body;
}

TEST_F(JobDetail, checkpoints_are_listed_and_downloaded) {
    const std::string bytes = some_bytes(5000);
    const std::string id = checkpoint(bytes);
    for (const std::string& list :
         {path + "/checkpoints", "/v1/checkpoints?job=" + job, std::string("/v1/checkpoints")}) {
        const Json found = service.expect(200, "GET", list);
        EXPECT_TRUE(check_document("CheckpointList", found).empty());
        ASSERT_EQ(found["items"].size(), 1U);
        EXPECT_EQ(found["items"][0]["id"], id);
        EXPECT_EQ(found["items"][0]["metric"]["value"], 0.5);
    }
    const std::string one = "/v1/checkpoints/" + id;
    EXPECT_TRUE(check_document("Checkpoint", service.expect(200, "GET", one)).empty());
    const std::string file = one + "/files/model.safetensors";
    const auto whole = service.call("GET", file);
    EXPECT_EQ(whole.status, 200);
    EXPECT_EQ(whole.body, bytes);
    EXPECT_EQ(whole.header("ETag"), "\"" + sha256_hex(bytes) + "\"");
    const auto part = service.call("GET", file, nullptr, {{"Range", "bytes=100-199"}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, bytes.substr(100, 100));
    EXPECT_EQ(part.header("Content-Range"), "bytes 100-199/5000");
    EXPECT_EQ(service.call("GET", file, nullptr, {{"Range", "bytes=5000-"}}).status, 416);
    EXPECT_EQ(service.call("HEAD", file).header("Content-Length"), "5000");
}

TEST_F(JobDetail, weights_are_made_for_other_frameworks_and_leave_nothing_behind) {
    const std::string target = "/v1/checkpoints/" + checkpoint("bytes") + "/weights.safetensors";
    EXPECT_EQ(service.expect(503, "GET", target)["code"], "unavailable");
    const auto folder = service.folder.path() / "store/exports";
    std::filesystem::create_directories(folder);
    ExportQueue exports(
        folder,
        [](const WeightsExport& wanted, const auto& file, const auto&) {
            EXPECT_EQ(read_file(wanted.checkpoint / "model.safetensors"), "bytes");
            std::ofstream(file) << wanted.dtype << " " << wanted.weights;
        },
        system_clock());
    service.services.exports = &exports;
    const auto usual = service.call("GET", target);
    EXPECT_EQ(usual.status, 200);
    EXPECT_EQ(usual.body, "f32 average");
    EXPECT_NE(usual.header("Content-Disposition").find("step_000010_attempt_1.safetensors"),
              std::string::npos);
    const auto other =
        service.call("GET", target + "?dtype=bf16&weights=raw", nullptr, {{"Range", "bytes=5-"}});
    EXPECT_EQ(other.status, 206);
    EXPECT_EQ(other.body, "raw");
    EXPECT_NE(other.header("ETag"), usual.header("ETag"));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    EXPECT_EQ(service.expect(422, "GET", target + "?dtype=f16")["errors"][0]["allowed"],
              Json({"f32", "bf16"}));
    const std::string stranger = service.token(Role::viewer, {"elsewhere"});
    EXPECT_EQ(service.call_as(stranger, "GET", target).status, 404);
}

TEST_F(JobDetail, only_files_that_the_checkpoint_lists_are_served) {
    const std::string one = "/v1/checkpoints/" + checkpoint("bytes");
    for (const char* name : {"hidden", "other", "..%2Fmodel.safetensors", "%2e%2e", "."})
        EXPECT_GE(service.call("GET", one + "/files/" + name).status, 400) << name;
    EXPECT_EQ(service.call("GET", one + "/files/hidden").status, 404);
}

TEST_F(JobDetail, a_checkpoint_that_was_dropped_is_gone) {
    const std::string id = checkpoint("bytes");
    service.relay(key,
                  {{.number = 60,
                    .checkpoint = store::RelayedCheckpoint{.id = new_id("ckp"),
                                                           .name = "step_000020_attempt_1",
                                                           .step = 20,
                                                           .kinds = {"last"},
                                                           .files = "[]",
                                                           .pruned = {"step_000010_attempt_1"}}}});
    for (const char* what : {"/files/model.safetensors", "/weights.safetensors"})
        EXPECT_EQ(service.expect(410, "GET", "/v1/checkpoints/" + id + what)["code"], "gone");
}

TEST_F(JobDetail, attempts_are_listed) {
    const Json list = service.expect(200, "GET", path + "/attempts");
    EXPECT_TRUE(check_document("AttemptList", list).empty());
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(list["items"][0]["cores"], Json::array({1}));
    EXPECT_FALSE(list.dump().find(key.fence) != std::string::npos) << "the fence is a secret";
}

TEST_F(JobDetail, attempts_come_in_pages_that_begin_with_the_newest) {
    const store::AttemptEnd again{.exit_kind = "crashed", .job_state = JobState::queued};
    store::finish_attempt(service.store, key, again);
    store::finish_attempt(service.store, service.run(job), again);
    service.run(job);
    const auto numbers = [](const Json& list) {
        std::vector<int> found;
        for (const Json& attempt : list["items"])
            found.push_back(attempt["attempt"]);
        return found;
    };
    const Json newest = service.expect(200, "GET", path + "/attempts?limit=2");
    EXPECT_EQ(numbers(newest), (std::vector{2, 3}));
    const std::string cursor = newest["next_cursor"];
    const Json older = service.expect(200, "GET", path + "/attempts?limit=2&cursor=" + cursor);
    EXPECT_EQ(numbers(older), std::vector{1});
    EXPECT_TRUE(older["next_cursor"].is_null());
    EXPECT_TRUE(service.expect(200, "GET", path + "/attempts")["next_cursor"].is_null());
    EXPECT_EQ(service.expect(422, "GET", path + "/attempts?limit=201")["code"], "invalid_query");
    const std::string waiting = "/v1/jobs/" + service.submit() + "/attempts";
    EXPECT_TRUE(numbers(service.expect(200, "GET", waiting)).empty());
    EXPECT_EQ(service.expect(400, "GET", waiting + "?cursor=" + cursor)["code"], "cursor_mismatch");
}

TEST_F(JobDetail, explain_says_why_a_job_waits) {
    const std::string waiting = service.submit();
    Json answer = service.expect(200, "GET", "/v1/jobs/" + waiting + "/explain");
    EXPECT_TRUE(check_document("Explanation", answer).empty());
    service.services.explain_wait = [&](std::string_view id) {
        EXPECT_EQ(id, waiting);
        return WaitExplanation{"core_busy", "core 1 is busy", {1}, job};
    };
    answer = service.expect(200, "GET", "/v1/jobs/" + waiting + "/explain");
    EXPECT_TRUE(check_document("Explanation", answer).empty());
    EXPECT_EQ(answer["code"], "core_busy");
    EXPECT_EQ(answer["blocking_job"], job);
    answer = service.expect(200, "GET", path + "/explain");
    EXPECT_EQ(answer["code"], "running");
    service.finish(key, JobState::failed);
    EXPECT_EQ(service.expect(200, "GET", path + "/explain")["state"], "failed");
}

TEST_F(JobDetail, explain_names_the_hosts_that_cannot_read_the_job) {
    service.services.explain_wait = [](std::string_view) {
        return WaitExplanation{"start_after", "it may start at noon", {}, ""};
    };
    store::AttemptEnd refused{.exit_kind = "wrong_build",
                              .message = "no field",
                              .job_state = JobState::queued,
                              .counts_as_restart = false,
                              .reason = store::Reason{"wrong_build", "no field"},
                              .crash_key = "wrong_build",
                              .repeats_max = 0};
    store::finish_attempt(service.store, key, refused);
    store::finish_attempt(service.store, service.run(job), refused);
    const Json answer = service.expect(200, "GET", path + "/explain");
    EXPECT_TRUE(check_document("Explanation", answer).empty());
    const std::string message = answer["message"];
    EXPECT_TRUE(message.starts_with(
        "it may start at noon; 2 times in a row: no field; 1 host could not read the job in "
        "2 attempts: "))
        << message;
    refused.reason = store::Reason{"not_started", "no memory"};
    refused.exit_kind = "not_started";
    store::finish_attempt(service.store, service.run(job), refused);
    EXPECT_EQ(std::string(service.expect(200, "GET", path + "/explain")["message"])
                  .find("could not read"),
              std::string::npos);
}

TEST_F(JobDetail, explain_does_not_name_jobs_of_other_projects) {
    service.ready_dataset("theirs", "other");
    const std::string waiting =
        service.submit({{"project", "other"}, {"data", {{"dataset", "theirs"}}}});
    service.services.explain_wait = [&](std::string_view) {
        return WaitExplanation{"core_busy", "core 1 is busy with job " + job, {1}, job};
    };
    const std::string path_of_waiting = "/v1/jobs/" + waiting + "/explain";
    const std::string stranger = service.token(Role::viewer, {"other"});
    const Json hidden = Json::parse(service.call_as(stranger, "GET", path_of_waiting).body);
    EXPECT_EQ(hidden["message"], "core 1 is busy with a job of another project");
    EXPECT_TRUE(hidden["blocking_job"].is_null());
    const std::string both = service.token(Role::viewer, {"other", "default"});
    EXPECT_EQ(Json::parse(service.call_as(both, "GET", path_of_waiting).body)["blocking_job"], job);
    EXPECT_EQ(service.expect(200, "GET", path_of_waiting)["blocking_job"], job);
}

TEST_F(JobDetail, the_spec_comes_back_as_json_and_as_a_command) {
    const Json spec = service.expect(200, "GET", path + "/spec");
    EXPECT_TRUE(check_document("JobSpec", spec).empty());
    service.expect(201, "POST", "/v1/jobs", spec);
    const auto curl = service.call("GET", path + "/spec?as=curl");
    EXPECT_TRUE(curl.header("Content-Type").starts_with("text/plain"));
    EXPECT_TRUE(curl.body.starts_with("curl -sS 'http://127.0.0.1:")) << curl.body;
    const std::size_t begin = curl.body.find("<<'JSON'\n") + 9;
    const std::size_t end = curl.body.find("\nJSON\n");
    EXPECT_EQ(Json::parse(curl.body.substr(begin, end - begin)), spec);
    EXPECT_EQ(curl.body.find(service.admin), std::string::npos);
    service.expect(422, "GET", path + "/spec?as=python");
}

}    // namespace
}    // namespace slipway
