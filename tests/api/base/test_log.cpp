// Goal: what a stranger makes us log is bounded in size and cannot do anything to a terminal.
// Method: the process's log goes into a file of the test's, which is read back.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/base/log_file.h"
#include "api/base/log_format.h"
#include "api/base/log_rate.h"
#include "api/base/posix.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

struct Log : testing::Test {
    TempFolder folder;
    const fs::path path = folder.path() / "service.log";

    ~Log() override { start_logging(LogLevel::info, std::string()); }
    void start(std::uint64_t bytes_max = 1 << 20, int old_files_max = 2) {
        start_logging(LogLevel::info, LogFileOptions{.path = path.string(),
                                                     .bytes_max = bytes_max,
                                                     .old_files_max = old_files_max});
    }
    std::string text() const { return read_file(path); }
};

TEST_F(Log, a_long_value_is_cut_between_characters) {
    start();
    std::string path_value = "/" + std::string(254, 'a');
    for (int i = 0; i < 4000; ++i)
        path_value += "\xc3\xbc";
    log_info("request", {{"path", path_value}, {"status", 404}});
    EXPECT_LT(text().size(), 400U);
    EXPECT_NE(text().find("a... (8255 bytes)\" status=404\n"), std::string::npos) << text();
}

TEST_F(Log, control_characters_are_escaped) {
    start();
    log_info("request", {{"path", "a\x1b[2J\r\n\t\x7f\xc2\x9b!\x9b\xc3\xbc"}});
    EXPECT_NE(text().find("path=\"a\\x1b[2J\\r\\n\\t\\x7f\xc2\\x9b!\\x9b\xc3\xbc\"\n"),
              std::string::npos)
        << text();
}

TEST_F(Log, as_json_each_line_is_an_object_whatever_is_logged) {
    set_log_format(LogFormat::json);
    start();
    log_warn("request", {{"path", "a\x1b\"\\\r\n\xff\xc3\xbc{}%v"}, {"status", 404}});
    log_info("stopped");
    set_log_format(LogFormat::text);
    std::istringstream lines(text());
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto first = nlohmann::json::parse(line);
    EXPECT_EQ(first["level"], "warning");
    EXPECT_EQ(first["message"], "request");
    EXPECT_EQ(first["fields"]["path"], "a\x1b\"\\\r\n\xef\xbf\xbd\xc3\xbc{}%v");
    EXPECT_EQ(first["fields"]["status"], "404");
    EXPECT_EQ(first["time"].get<std::string>().size(), 24U);
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(nlohmann::json::parse(line)["fields"], nlohmann::json::object());
    EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(Log, only_its_owner_and_group_read_it) {
    folder.write("service.log", "older\n");
    fs::permissions(path, fs::perms{0644});
    start();
    log_info("first");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms{0640});
    EXPECT_TRUE(text().starts_with("older\n"));
}

TEST_F(Log, it_is_rotated_by_size) {
    start(1000, 2);
    for (int i = 0; i < 100; ++i)
        log_info("line", {{"number", i}});
    for (const char* name : {"service.log", "service.log.1", "service.log.2"}) {
        EXPECT_LE(fs::file_size(folder.path() / name), 1000U) << name;
        EXPECT_EQ(fs::status(folder.path() / name).permissions(), fs::perms{0640}) << name;
    }
    EXPECT_FALSE(fs::exists(folder.path() / "service.log.3"));
    EXPECT_NE(text().find("number=99\n"), std::string::npos);
}

/// What `act` writes to stderr while it is a file.
template <class Act>
std::string stderr_of(const fs::path& path, const Act& act) {
    const UniqueFd before(dup(STDERR_FILENO));
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    dup2(file.get(), STDERR_FILENO);
    act();
    dup2(before.get(), STDERR_FILENO);
    return read_file(path);
}

TEST_F(Log, a_redirected_stderr_does_not_grow_with_the_log) {
    const std::string written = stderr_of(folder.path() / "stderr", [&] {
        start();
        for (int i = 0; i < 100; ++i)
            log_info("line", {{"number", i}});
    });
    EXPECT_EQ(written, "");
    EXPECT_NE(text().find("number=99\n"), std::string::npos);
}

TEST_F(Log, a_pipe_gets_each_line_too) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const UniqueFd before(dup(STDERR_FILENO));
    dup2(writer.get(), STDERR_FILENO);
    start();
    log_info("line", {{"number", 1}});
    dup2(before.get(), STDERR_FILENO);
    std::array<char, 256> bytes{};
    const ssize_t count = read(reader.get(), bytes.data(), bytes.size());
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(count)), text());
}

TEST_F(Log, without_a_file_a_redirected_stderr_is_the_log) {
    const std::string written = stderr_of(folder.path() / "stderr", [] {
        start_logging(LogLevel::info, std::string());
        log_info("line", {{"number", 1}});
    });
    EXPECT_NE(written.find("number=1\n"), std::string::npos);
}

TEST_F(Log, it_is_opened_again_by_its_name) {
    start();
    log_info("before");
    fs::rename(path, folder.path() / "moved");
    log_info("between");
    reopen_log();
    log_info("after");
    const std::string moved = read_file(folder.path() / "moved");
    EXPECT_NE(moved.find("between"), std::string::npos);
    EXPECT_EQ(moved.find("after"), std::string::npos);
    EXPECT_NE(text().find("after"), std::string::npos);
}

TEST(LogRates, a_flood_is_counted_and_not_logged) {
    LogRate rate(10, 3);
    const Tick start{std::chrono::seconds{100}};
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(rate.admit(start), 0U);
    for (int i = 0; i < 5000; ++i)
        EXPECT_EQ(rate.admit(start), std::nullopt);
    EXPECT_EQ(rate.admit(start + std::chrono::milliseconds{100}), 5000U);
    EXPECT_EQ(rate.admit(start + std::chrono::milliseconds{100}), std::nullopt);
    for (int i = 0; i < 3; ++i)
        EXPECT_NE(rate.admit(start + std::chrono::hours{1}), std::nullopt)
            << "no more than a burst";
    EXPECT_EQ(rate.admit(start + std::chrono::hours{1}), std::nullopt);
}

}    // namespace
}    // namespace slipway
