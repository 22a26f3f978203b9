#include "executor/main/frames/frame_log.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

Json log_frame(const std::string& message) {
    return {{"type", "log"}, {"level", "info"}, {"message", message}};
}

TEST(FrameLog, frames_are_numbered_from_one_and_stamped) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    log.emit(log_frame("a"));
    log.emit(log_frame("b"));
    const auto lines = lines_of(folder.path() / "frames.ndjson");
    ASSERT_EQ(lines.size(), 2U);
    const Json second = Json::parse(lines[1]);
    EXPECT_EQ(second.at("n"), 2);
    EXPECT_EQ(second.at("message"), "b");
    EXPECT_TRUE(parse_rfc3339(second.at("time").get<std::string>()));
    EXPECT_EQ(frame_number(lines[1]), 2);
    EXPECT_EQ(log.last_number(), 2);
}

TEST(FrameLog, an_older_log_is_continued_and_its_torn_line_cut_off) {
    const TempFolder folder;
    const auto file = folder.path() / "frames.ndjson";
    {
        FrameLog log(file, system_clock());
        log.emit(log_frame("a"));
        log.emit(log_frame("b"));
    }
    std::ofstream(file, std::ios::app) << "{\"n\":3,\"time\":\"2026";
    FrameLog log(file, system_clock());
    EXPECT_EQ(log.last_number(), 2);
    log.emit(log_frame("c"));
    const auto lines = lines_of(file);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(Json::parse(lines[2]).at("n"), 3);
}

TEST(FrameLog, many_threads_leave_every_number_once_and_in_order) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    std::vector<std::thread> speakers;
    for (int speaker = 0; speaker < 4; ++speaker) {
        speakers.emplace_back([&log] {
            for (int i = 0; i < 50; ++i)
                log.emit(log_frame("x"));
        });
    }
    for (std::thread& speaker : speakers)
        speaker.join();
    std::int64_t expected = 0;
    for (const std::string& line : lines_of(folder.path() / "frames.ndjson"))
        EXPECT_EQ(frame_number(line), ++expected);
    EXPECT_EQ(expected, 200);
}

TEST(FrameLog, bytes_that_are_no_text_are_replaced) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    log.emit(log_frame("a\xff\nb"));
    const auto lines = lines_of(folder.path() / "frames.ndjson");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(Json::parse(lines[0]).at("message"), "a\xef\xbf\xbd\nb");
}

TEST(FrameLog, a_full_disk_ends_the_run_and_inputs_whole_lines) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
    EXPECT_THROW(
        {
            FrameLog log("/dev/full", system_clock());
            log.emit(log_frame("a"));
        },
        Error);
}

/// A file that grows and cannot be cut: a disk that refuses ftruncate.
class UncuttableFile {
public:
    explicit UncuttableFile(std::string_view text)
        : file_(memfd_create("frames", MFD_ALLOW_SEALING)) {
        EXPECT_EQ(write(file_.get(), text.data(), text.size()), ssize_t(text.size()));
        EXPECT_EQ(fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    }
    std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

private:
    UniqueFd file_;
};

/// Files of this process end after so many bytes, as on a disk that fills up amid a line.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit now{bytes, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, old_handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit before_{};
    void (*old_handler_)(int) = nullptr;
};

ErrorCode code_of_emit(FrameLog& log, const std::string& message) {
    try {
        log.emit(log_frame(message));
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "it was written";
    return ErrorCode::internal;
}

TEST(FrameLog, a_disk_that_fills_amid_a_line_inputs_whole_lines_and_takes_the_last_word) {
    const TempFolder folder;
    FrameLog log(folder.path() / "frames.ndjson", system_clock());
    log.emit(log_frame("a"));
    {
        const FileSizeLimit limit(rlim_t(log.bytes()) + 20);
        EXPECT_EQ(code_of_emit(log, "b"), ErrorCode::exhausted);
        EXPECT_EQ(lines_of(folder.path() / "frames.ndjson").size(), 1U);
    }
    log.emit(log_frame("c"));
    EXPECT_EQ(Json::parse(lines_of(folder.path() / "frames.ndjson").at(1)).at("n"), 2);
}

// Before, the process aborted, and its job ran again as if the executor had crashed.
TEST(FrameLog, a_line_that_cannot_be_cut_off_is_an_error_and_no_abort) {
    const UncuttableFile file("");
    FrameLog log(file.path(), system_clock());
    log.emit(log_frame("a"));
    {
        const FileSizeLimit limit(rlim_t(log.bytes()) + 20);
        EXPECT_EQ(code_of_emit(log, "b"), ErrorCode::unavailable);
    }
    EXPECT_EQ(code_of_emit(log, "c"), ErrorCode::unavailable) << "behind half a line";
    EXPECT_EQ(log.last_number(), 1);
    const UncuttableFile torn("{\"n\":1,\"type\":\"log\"}\n{\"n\":2,");
    EXPECT_THROW(FrameLog(torn.path(), system_clock()), Error);
}

TEST(FrameLog, a_folder_that_is_not_there_is_refused) {
    EXPECT_THROW(FrameLog("/nonexistent/frames.ndjson", system_clock()), Error);
}

TEST(FrameNumber, other_lines_have_none) {
    for (const char* line :
         {"", "{}", "{\"n\":}", "{\"n\":1", "{\"m\":1,", "{\"n\":x,", " {\"n\":1,"})
        EXPECT_EQ(frame_number(line), std::nullopt) << line;
}

}    // namespace
}    // namespace slipway
