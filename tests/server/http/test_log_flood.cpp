// Goal: a flood of requests fills neither the disk nor the log: what is logged depends on the time
// that has passed, not on the number of requests or the length of their paths.
// Method: real connections send long paths one behind the other; the log is a file of the test's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "api/base/log_file.h"
#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

constexpr int flooding_clients = 4;
constexpr int requests_of_client = 1250;
constexpr double lines_per_s = 10;
constexpr int lines_burst = 50;
constexpr std::size_t line_bytes_max = 600;    // with a path that is cut

struct LogFlood : testing::Test {
    TempFolder folder;

    LogFlood() {
        start_logging(LogLevel::info,
                      LogFileOptions{.path = (folder.path() / "service.log").string(),
                                     .bytes_max = std::uint64_t{1} << 30,
                                     .old_files_max = 1});
    }
    ~LogFlood() override { start_logging(LogLevel::info, std::string()); }

    std::string text() const { return read_file(folder.path() / "service.log"); }
};

/// So many requests over one connection; how many were answered.
int flood(std::uint16_t port) {
    const std::string path = "/" + std::string(8000, 'x');
    const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", path);
    int answered = 0;
    RawHttp client(port);
    for (int i = 0; i < requests_of_client; ++i) {
        client.send(request);
        if (client.read_answer().status == 404) ++answered;
    }
    return answered;
}

TEST_F(LogFlood, of_long_paths_is_counted_and_not_logged) {
    ServerOptions options;
    options.limits.requests_per_connection = requests_of_client + 1;
    options.limits.log_lines_per_s = lines_per_s;
    options.limits.log_lines_burst = lines_burst;
    SampleServer sample(options);
    const auto began = std::chrono::steady_clock::now();
    std::vector<int> answered(flooding_clients);
    {
        std::vector<std::jthread> threads;
        for (int& count : answered)
            threads.emplace_back([&count, port = sample.port()] { count = flood(port); });
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    for (const int count : answered)
        EXPECT_EQ(count, requests_of_client);
    // With the line before it that says how many were left out.
    const double lines_max = 2 * (lines_burst + lines_per_s * taken.count() + 1);
    const std::string flooded = text();
    EXPECT_GE(std::ranges::count(flooded, '\n'), lines_burst);
    EXPECT_LE(double(std::ranges::count(flooded, '\n')), lines_max);
    EXPECT_LE(double(flooded.size()), lines_max * line_bytes_max);

    // What was left out is said once there may be a line again.
    EXPECT_TRUE(eventually([&] {
        raw_statuses(sample.port(), probe);
        return text().find("request lines suppressed") != std::string::npos;
    }));
}

}    // namespace
}    // namespace slipway
