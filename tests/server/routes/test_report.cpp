// Goal: what an executor wrote about its job is served, to those who may see the job, in the form
// they ask for; and what is not there yet is said to be so.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

const std::string hash = "0123456789abcdef0123456789abcdef";

struct JobReport : testing::Test {
    TestService service;
    std::string job;
    std::string path;

    JobReport() {
        service.ready_dataset("points");
        job = service.submit();
        path = "/v1/jobs/" + job;
    }
    void write(const std::string& name, const std::string& text) {
        service.folder.write("store/reports/" + job + "/" + name, text);
    }
    void write_all() {
        write("report.json", R"({"step": 7, "verdict": {"kind": "compute_bound"}})");
        write("report.txt", "Metric: CompileTime\n");
        write("evaluation.json", R"({"samples": 24, "confusion_matrix": {"counts": [[9]]}})");
        write("graphs.json", R"([{"hash": ")" + hash + R"("}])");
        write("graphs/" + hash + ".json", R"({"ir": "%0 = leaf\n", "text": "program\n"})");
        write("graphs/" + hash + ".mlir", "\"builtin.module\"()\n");
        write("graphs/" + hash + ".dot", "digraph step {}\n");
        write("trace.json", R"({"traceEvents": []})");
    }
};

TEST_F(JobReport, is_served_as_json_and_as_text) {
    write_all();
    EXPECT_EQ(service.expect(200, "GET", path + "/report")["step"], 7);
    EXPECT_EQ(service.expect(200, "GET", path + "/report?format=json")["step"], 7);
    const auto text = service.call("GET", path + "/report?format=text");
    EXPECT_EQ(text.status, 200);
    EXPECT_EQ(text.body, "Metric: CompileTime\n");
    EXPECT_EQ(text.header("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(service.call("GET", path + "/report", nullptr, {{"Accept", "text/plain"}}).body,
              text.body);
    EXPECT_EQ(service.call("GET", path + "/report?format=json", nullptr, {{"Accept", "text/plain"}})
                  .body[0],
              '{');
}

TEST_F(JobReport, the_last_evaluation_is_served_beside_it) {
    write_all();
    const Json found = service.expect(200, "GET", path + "/evaluation");
    EXPECT_EQ(found["samples"], 24);
    EXPECT_EQ(found["confusion_matrix"]["counts"][0][0], 9);
}

TEST_F(JobReport, of_an_epoch_is_served_where_it_was_kept) {
    write_all();
    write("epochs/000002.json", R"({"step": 2})");
    write("epochs/000002.txt", "of the second\n");
    EXPECT_EQ(service.expect(200, "GET", path + "/report?epoch=2")["step"], 2);
    EXPECT_EQ(service.call("GET", path + "/report?epoch=2&format=text").body, "of the second\n");
    EXPECT_EQ(service.expect(404, "GET", path + "/report?epoch=3")["code"], "no_report");
    service.expect(422, "GET", path + "/report?epoch=0");
}

TEST_F(JobReport, event_files_of_all_attempts_are_served_as_one) {
    EXPECT_EQ(service.expect(404, "GET", path + "/tensorboard")["code"], "no_report");
    write("tensorboard/events.out.tfevents.0000000002.host.1.0", "second");
    write("tensorboard/events.out.tfevents.0000000001.host.9.0", "first, ");
    write("tensorboard/other", "nothing of it");
    const auto answer = service.call("GET", path + "/tensorboard");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "first, second");
    EXPECT_NE(answer.header("Content-Disposition").find("events.out.tfevents.0000000001.host.9.0"),
              std::string::npos);
    const std::string other = service.token(Role::viewer, {"elsewhere"});
    EXPECT_EQ(service.call_as(other, "GET", path + "/tensorboard").status, 404);
}

// What is only sent has no limit, what is read into memory first has one: the files are an
// executor's, as large as it likes.
TEST_F(JobReport, a_file_that_would_be_read_into_memory_has_a_largest_size) {
    write_all();
    const auto grow = [this](const std::string& name, std::uintmax_t mib) {
        std::filesystem::resize_file(service.folder.path() / "store/reports" / job / name,
                                     mib << 20);
    };
    grow("graphs.json", 33);
    grow("graphs/" + hash + ".json", 33);
    for (const std::string& what : {path + "/graphs", path + "/graphs/" + hash + "?format=ir"}) {
        const Json problem = service.expect(422, "GET", what);
        EXPECT_EQ(problem["code"], "report_too_large") << what;
        EXPECT_NE(problem["detail"].get<std::string>().find("33 MiB"), std::string::npos);
    }
    const std::string begin = "tensorboard/events.out.tfevents.000000000";
    write(begin + "1.host.9.0", "");
    grow(begin + "1.host.9.0", 65);
    EXPECT_EQ(service.call("GET", path + "/tensorboard").body.size(), std::size_t(65) << 20);
    write(begin + "2.host.9.0", "x");
    const Json problem = service.expect(422, "GET", path + "/tensorboard");
    EXPECT_EQ(problem["code"], "report_too_large");
    EXPECT_NE(problem["detail"].get<std::string>().find("64 MiB"), std::string::npos);
    grow(begin + "1.host.9.0", 40);
    grow(begin + "2.host.9.0", 30);
    service.expect(422, "GET", path + "/tensorboard");
}

TEST_F(JobReport, the_table_of_the_csv_sink_is_served) {
    EXPECT_EQ(service.expect(404, "GET", path + "/metrics.csv?form=table")["code"], "no_report");
    write("metrics.csv", "step,epoch,lr\n1,1,0.5\n");
    const auto answer = service.call("GET", path + "/metrics.csv?form=table");
    EXPECT_EQ(answer.body, "step,epoch,lr\n1,1,0.5\n");
    EXPECT_EQ(answer.header("Content-Type"), "text/csv; charset=utf-8");
    service.expect(422, "GET", path + "/metrics.csv?form=wide");
}

TEST_F(JobReport, graphs_are_listed_and_shown) {
    write_all();
    const Json list = service.expect(200, "GET", path + "/graphs");
    EXPECT_EQ(list["items"][0]["hash"], hash);
    EXPECT_EQ(list["next_cursor"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", path + "/graphs/" + hash)["text"], "program\n");
    EXPECT_EQ(service.call("GET", path + "/graphs/" + hash + "?format=ir").body, "%0 = leaf\n");
    EXPECT_EQ(service.call("GET", path + "/graphs/" + hash + "?format=program").body, "program\n");
    const auto stablehlo = service.call("GET", path + "/graphs/" + hash + "?format=stablehlo");
    EXPECT_EQ(stablehlo.body, "\"builtin.module\"()\n");
    EXPECT_EQ(stablehlo.header("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(service.call("GET", path + "/graphs/" + hash + "?format=dot").body,
              "digraph step {}\n");
    EXPECT_TRUE(service.expect(200, "GET", path + "/trace").contains("traceEvents"));
}

TEST_F(JobReport, a_form_that_an_older_executor_did_not_write_is_said_to_be_missing) {
    write_all();
    std::filesystem::remove(service.folder.path() / "store/reports" / job / "graphs" /
                            (hash + ".dot"));
    const Json problem = service.expect(404, "GET", path + "/graphs/" + hash + "?format=dot");
    EXPECT_EQ(problem["code"], "no_report");
    EXPECT_NE(problem["detail"].get<std::string>().find(hash + ".dot"), std::string::npos);
}

TEST_F(JobReport, is_there_after_the_job_has_ended) {
    const store::AttemptKey key = service.run(job);
    write_all();
    service.finish(key);
    EXPECT_EQ(service.expect(200, "GET", path + "/report")["step"], 7);
}

TEST_F(JobReport, of_a_job_that_has_not_run_is_not_there_yet) {
    for (const char* what :
         {"/report", "/report?format=text", "/graphs", "/trace", "/evaluation"}) {
        const Json problem = service.expect(404, "GET", path + what);
        EXPECT_EQ(problem["code"], "no_report") << what;
        EXPECT_NE(problem["detail"].get<std::string>().find("queued"), std::string::npos);
    }
    EXPECT_EQ(service.expect(404, "GET", path + "/graphs/" + hash)["code"], "no_report");
}

TEST_F(JobReport, of_an_unknown_job_or_program_is_not_found) {
    write_all();
    const std::string unknown = "/v1/jobs/" + new_id("job");
    for (const char* what : {"/report", "/graphs", "/trace", "/evaluation", "/graphs/0123"})
        EXPECT_EQ(service.expect(404, "GET", unknown + what)["code"], "not_found") << what;
    EXPECT_EQ(service.expect(404, "GET", "/v1/jobs/nonsense/report")["code"], "not_found");
    const std::vector<std::string> others{std::string(32, 'f'), "x", std::string(32, 'G'),
                                          hash + "0"};
    for (const std::string& other : others)
        EXPECT_EQ(service.expect(404, "GET", path + "/graphs/" + other)["code"], "not_found")
            << other;
}

TEST_F(JobReport, an_unknown_form_is_refused_with_those_there_are) {
    write_all();
    const Json problem = service.expect(422, "GET", path + "/report?format=xml");
    EXPECT_EQ(problem["errors"][0]["allowed"], Json({"json", "text"}));
    const Json graph = service.expect(422, "GET", path + "/graphs/" + hash + "?format=svg");
    EXPECT_EQ(graph["errors"][0]["allowed"], Json({"json", "ir", "stablehlo", "dot", "program"}));
    service.expect(422, "GET", path + "/trace?format=json");
}

TEST_F(JobReport, is_seen_by_those_who_see_the_job) {
    write_all();
    const std::string other = service.token(Role::viewer, {"elsewhere"});
    const std::vector<std::string> parts{"/report", "/graphs/" + hash};
    for (const std::string& what : parts) {
        EXPECT_EQ(service.call_as(other, "GET", path + what).status, 404);
        EXPECT_EQ(service.call_as("", "GET", path + what).status, 401);
        EXPECT_EQ(service.call_as(service.token(Role::viewer), "GET", path + what).status, 200);
    }
}

TEST_F(JobReport, a_damaged_file_or_a_link_gives_nothing_away) {
    write("graphs.json", "[{");
    EXPECT_EQ(service.expect(500, "GET", path + "/graphs")["code"], "data_loss");
    const auto secret = service.folder.write("secret", "secret");
    std::filesystem::create_symlink(secret,
                                    service.folder.path() / "store/reports" / job / "report.json");
    EXPECT_EQ(service.expect(404, "GET", path + "/report")["code"], "no_report");
}

}    // namespace
}    // namespace slipway
