#include <gtest/gtest.h>

#include <filesystem>

#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

// Goal: whatever is sent as JSON is judged as JSON first. Method: the 318 files of the JSON parsing
// test suite as bodies of POST /v1/jobs. n_: not JSON, 400. y_: JSON, whatever else it lacks. i_:
// as the parser decides; only never a failure of ours.
TEST(JsonSuite, every_file_gets_the_answer_it_deserves) {
    const std::filesystem::path suite = test_data_folder() / "json_test_suite";
    if (test_data_folder().empty() || !std::filesystem::exists(suite))
        GTEST_SKIP() << "the JSON parsing test suite is not here";
    TestService service;
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(suite)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
        ++count;
        const auto response =
            service.send({.method = "POST", .target = "/v1/jobs", .body = read_file(entry.path())},
                         service.admin);
        EXPECT_LT(response.status, 500) << name;
        EXPECT_GE(response.status, 400) << name;
        if (name.starts_with("n_")) EXPECT_EQ(response.status, 400) << name;
        if (name.starts_with("y_")) EXPECT_NE(response.status, 400) << name;
    }
    EXPECT_EQ(count, 318);
    EXPECT_EQ(service.call("GET", "/healthz").status, 200) << "the server lives";
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 0U);
}

}    // namespace
}    // namespace slipway
