#include "server/routes/export_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <semaphore>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "tests/support/eventually.h"
#include "tests/support/hand_clock.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr std::chrono::milliseconds forget_after{10'000};

/// A queue whose exports are made one by one, as the test lets them.
struct ExportQueueTest : testing::Test {
    static WeightsExport of(const std::string& checkpoint, const std::string& dtype = "f32") {
        return {
            .project = "default", .checkpoint = checkpoint, .dtype = dtype, .weights = "average"};
    }

    void make(const WeightsExport& wanted, const std::filesystem::path& file,
              const std::atomic<bool>& stop) {
        ++begun;
        while (!may_end.try_acquire_for(std::chrono::milliseconds{1}))
            if (stop) throw Error{ErrorCode::unavailable, "stopped"};
        if (fails) throw Error{ErrorCode::unavailable, "the disk is full"};
        std::ofstream(file) << wanted.checkpoint.string() << " " << wanted.dtype;
    }

    std::string content(const WeightsExport& wanted, const std::string& token = "tok_a") {
        std::optional<OpenedFile> file;
        if (!eventually([&] { return (file = queue.ask(wanted, token)).has_value(); })) return "";
        std::array<char, 100> bytes{};
        const auto count = pread(file->file->get(), bytes.data(), bytes.size(), 0);
        return {bytes.data(), std::size_t(std::max<ssize_t>(count, 0))};
    }

    std::string refusal(const WeightsExport& wanted, const std::string& token = "tok_a") {
        try {
            queue.ask(wanted, token);
        } catch (const Error& error) {
            return std::string(to_string(error.code())) + ": " + error.what();
        }
        return "";
    }

    TempFolder folder;
    HandClock clock;
    std::atomic<int> begun = 0;
    std::atomic<bool> fails = false;
    std::counting_semaphore<> may_end{0};
    ExportQueue queue{folder.path(),
                      [this](const auto&... of_export) { make(of_export...); },
                      clock,
                      {.of_token = 2, .in_all = 4, .forget_after = forget_after}};
};

TEST_F(ExportQueueTest, requests_for_the_same_export_share_it) {
    EXPECT_FALSE(queue.ask(of("one"), "tok_a"));
    EXPECT_FALSE(queue.ask(of("one"), "tok_b"));
    may_end.release();
    EXPECT_EQ(content(of("one")), "one f32");
    EXPECT_EQ(content(of("one"), "tok_b"), "one f32");
    EXPECT_EQ(begun, 1);
    may_end.release();
    EXPECT_EQ(content(of("one", "bf16")), "one bf16") << "another dtype is another export";
    EXPECT_EQ(begun, 2);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "an open file needs no name";
}

TEST_F(ExportQueueTest, a_token_waits_for_few_exports_at_a_time) {
    queue.ask(of("one"), "tok_a");
    queue.ask(of("two"), "tok_a");
    EXPECT_EQ(refusal(of("three")),
              "exhausted: 2 exports of this token are in progress, which is the maximum; wait "
              "until one is complete");
    EXPECT_EQ(refusal(of("two")), "") << "it has been asked for before";
    EXPECT_EQ(refusal(of("three"), "tok_b"), "");
    may_end.release();
    EXPECT_EQ(content(of("one")), "one f32");
    EXPECT_EQ(refusal(of("four")), "") << "one is there";
}

TEST_F(ExportQueueTest, all_tokens_together_have_a_limit) {
    for (const char* token : {"tok_a", "tok_b", "tok_c", "tok_d"})
        EXPECT_EQ(refusal(of(token), token), "");
    EXPECT_EQ(refusal(of("more"), "tok_e"),
              "unavailable: too many exports are waiting; try again later");
}

TEST_F(ExportQueueTest, one_that_nobody_asks_for_is_not_begun) {
    queue.ask(of("one"), "tok_a");
    ASSERT_TRUE(eventually([&] { return begun == 1; }));
    queue.ask(of("left"), "tok_b");
    clock.advance(forget_after / 2);
    queue.ask(of("kept"), "tok_c");
    clock.advance(forget_after / 2 + std::chrono::milliseconds{1});
    may_end.release(2);
    EXPECT_EQ(content(of("kept"), "tok_c"), "kept f32");
    EXPECT_EQ(begun, 2);
}

TEST_F(ExportQueueTest, one_that_is_made_is_given_up_when_nobody_asks) {
    may_end.release(2);
    EXPECT_EQ(content(of("one")), "one f32");
    clock.advance(forget_after + std::chrono::milliseconds{1});
    EXPECT_EQ(content(of("one")), "one f32");
    EXPECT_EQ(begun, 2) << "made anew";
}

TEST_F(ExportQueueTest, a_failure_is_told_and_forgotten_however_often_one_asks) {
    fails = true;
    may_end.release();
    ASSERT_TRUE(eventually([&] {
        const std::string told = refusal(of("one"));
        return told == "unavailable: the disk is full";
    }));
    clock.advance(forget_after / 2);
    EXPECT_EQ(refusal(of("one")), "unavailable: the disk is full");
    clock.advance(forget_after / 2 + std::chrono::milliseconds{1});
    fails = false;
    may_end.release();
    EXPECT_EQ(content(of("one")), "one f32");
    EXPECT_EQ(begun, 2);
}

TEST_F(ExportQueueTest, it_ends_in_the_middle_of_an_export) {
    queue.ask(of("one"), "tok_a");
    queue.ask(of("two"), "tok_a");
    ASSERT_TRUE(eventually([&] { return begun == 1; }));
    // The destructor of the fixture returns: `make` is told to stop.
}

}    // namespace
}    // namespace slipway
