// Goal: of processes that begin together one makes a copy and the others read it, whole or not at
// all; whatever happens to it or to its maker costs no more than the copy.
// Method: processes that begin together, are killed in the middle, never end; files that are cut,
// changed and unreadable; folders and disks that are of no use.
#include "executor/data/shared/use_copy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "executor/data/shared/copy_file.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

using Numbers64 = std::vector<std::int64_t>;

/// Some MiB, so that it has several blocks and a part of one.
Numbers64 source_numbers() {
    Numbers64 numbers(140'001);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = std::int64_t(i * i);
    return numbers;
}

/// A reader of source_numbers().
struct Reader {
    Numbers64 numbers;
    int opened = 0;
    std::function<void()> in_the_middle = [] {};

    Copied copied() {
        return {.open =
                    [this] {
                        ++opened;
                        numbers = source_numbers();
                    },
                .write =
                    [this](CopyWriter& to) {
                        to.text("numbers");
                        in_the_middle();
                        to.numbers(numbers);
                    },
                .read =
                    [this](CopyReader& from) {
                        require_in_copy(from.text() == "numbers");
                        numbers = from.vector<std::int64_t>();
                    }};
    }
};

struct CopyFolder {
    TempFolder folder;
    SharingOptions options{.folder = folder.path() / "copies", .threads = 2};

    SharingOutcome use(Reader& reader, const std::string& facts = "facts") const {
        return use_copy(
            options, [&] { return CopyFacts{.text = facts}; }, reader.copied());
    }
    /// What is there, sorted.
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(options.folder, absent))
            found.push_back(entry.path());
        std::ranges::sort(found);
        return found;
    }
    void expect_private(const std::string& why) const {
        Reader reader;
        const SharingOutcome outcome = use(reader);
        EXPECT_EQ(outcome.sharing, Sharing::none);
        EXPECT_NE(outcome.why_not.find(why), std::string::npos) << outcome.why_not;
        EXPECT_EQ(reader.opened, 1);
        EXPECT_EQ(reader.numbers, source_numbers());
    }
};

int exit_code_of(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A process that has begun the copy, and stays in the middle of it.
pid_t stuck_maker(const CopyFolder& copies) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const UniqueFd read_end(ends[0]), write_end(ends[1]);
    const pid_t child = fork();
    if (child == 0) {
        Reader reader;
        reader.in_the_middle = [&] {
            if (write(write_end.get(), "x", 1) != 1) _exit(1);
            for (;;)
                pause();
        };
        copies.use(reader);
        _exit(2);
    }
    char there = 0;
    EXPECT_EQ(read(read_end.get(), &there, 1), 1);
    return child;
}

}    // namespace

TEST(UseCopy, of_eight_that_begin_together_one_makes_it) {
    for (int round = 0; round < 5; ++round) {
        const CopyFolder copies;
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        std::vector<pid_t> children;
        for (int i = 0; i < 8; ++i) {
            const pid_t child = fork();
            ASSERT_GE(child, 0);
            if (child == 0) {
                close(ends[1]);
                char gate = 0;
                if (read(ends[0], &gate, 1) != 0) _exit(3);    // until all are there
                Reader reader;
                const SharingOutcome outcome = copies.use(reader);
                if (reader.numbers != source_numbers()) _exit(4);
                if (reader.opened != (outcome.sharing == Sharing::made ? 1 : 0)) _exit(5);
                _exit(outcome.sharing == Sharing::made ? 10 : 20);
            }
            children.push_back(child);
        }
        close(ends[0]);
        close(ends[1]);
        int sum = 0;
        for (const pid_t child : children)
            sum += exit_code_of(child);
        EXPECT_EQ(sum, 10 + 7 * 20);
        EXPECT_EQ(copies.files().size(), 1U) << "nothing half made is left";
    }
}

TEST(UseCopy, a_maker_that_is_killed_is_followed_at_once) {
    const CopyFolder copies;
    const pid_t child = stuck_maker(copies);
    ASSERT_EQ(copies.files().size(), 1U);
    EXPECT_EQ(copies.files()[0].extension(), ".tmp");
    SharingOutcome outcome;
    Reader waiting;
    std::thread waiter([&] { outcome = copies.use(waiting); });
    poll(nullptr, 0, 100);    // it waits for as long as the maker lives
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    waiter.join();
    EXPECT_EQ(outcome.sharing, Sharing::made) << outcome.why_not;
    EXPECT_GE(outcome.waited_s, 0.05);
    EXPECT_EQ(waiting.numbers, source_numbers());
    Reader next;
    EXPECT_EQ(copies.use(next).sharing, Sharing::found);
    EXPECT_EQ(copies.files().size(), 1U);
}

TEST(UseCopy, a_maker_that_never_ends_is_not_waited_for_for_ever) {
    CopyFolder copies;
    const pid_t child = stuck_maker(copies);
    copies.options.wait_max = std::chrono::milliseconds(50);
    copies.expect_private("another process has been making it for");
    kill(child, SIGKILL);
    exit_code_of(child);
}

TEST(UseCopy, a_damaged_copy_is_made_anew) {
    const CopyFolder copies;
    Reader first;
    ASSERT_EQ(copies.use(first).sharing, Sharing::made);
    const fs::path path = copies.files()[0];
    const std::string whole = read_file(path);
    const auto spoil = [&](const std::string& text) {
        copies.folder.write("copies/" + path.filename().string(), text);
        Reader reader;
        const SharingOutcome outcome = copies.use(reader);
        EXPECT_EQ(outcome.sharing, Sharing::made) << outcome.why_not;
        EXPECT_TRUE(outcome.replaced);
        EXPECT_EQ(reader.numbers, source_numbers());
        EXPECT_EQ(read_file(path), whole);
    };
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{9}, std::size_t{18}, std::size_t{24}, std::size_t{40},
          std::size_t{64}, std::size_t{1'100'000}, whole.size() - 13, whole.size() - 1})
        spoil(with_flipped_byte(whole, at));
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{5000}, whole.size() - 4})
        spoil(whole.substr(0, size));
    spoil(whole + "x");
}

TEST(UseCopy, a_copy_of_something_else_with_sums_that_fit_is_made_anew) {
    const CopyFolder copies;
    Reader first;
    ASSERT_EQ(copies.use(first).sharing, Sharing::made);
    const fs::path path = copies.files()[0];
    fs::remove(path);
    auto draft = begin_copy(path, 1000, std::chrono::milliseconds(0), false);
    ASSERT_TRUE(draft);
    CopyWriter writer([&](std::span<const std::byte> bytes) { draft->write(bytes); });
    writer.text("words");
    draft->publish();
    draft.reset();
    Reader reader;
    const SharingOutcome outcome = copies.use(reader);
    EXPECT_TRUE(outcome.replaced);
    EXPECT_EQ(reader.numbers, source_numbers());
}

TEST(UseCopy, records_that_lie_about_their_size_are_refused) {
    const auto refused = [](const std::vector<std::uint64_t>& words, const auto& read) {
        CopyReader reader(nullptr, std::as_bytes(std::span(words)));
        EXPECT_EQ(error_code_of([&] { read(reader); }), ErrorCode::data_loss);
    };
    refused({}, [](CopyReader& from) { from.bytes(); });
    refused({1}, [](CopyReader& from) { from.bytes(); });
    refused({~std::uint64_t{0}, 1}, [](CopyReader& from) { from.bytes(); });
    refused({~std::uint64_t{0} - 6, 1}, [](CopyReader& from) { from.bytes(); });
    refused({4, 1}, [](CopyReader& from) { from.number(); });
    refused({4, 1}, [](CopyReader& from) { from.numbers<std::int64_t>(); });
    refused({8, ~std::uint64_t{0}}, [](CopyReader& from) { from.texts(); });
    refused({8, 3, 0, 0}, [](CopyReader& from) { from.texts(); });
}

TEST(UseCopy, a_folder_or_disk_that_is_of_no_use_costs_only_the_copy) {
    CopyFolder copies;
    copies.options.bytes_max = 1 << 20;
    copies.expect_private("the most that a copy may have");
    EXPECT_TRUE(copies.files().empty()) << "nothing half made";
    copies.options.folder = copies.folder.write("a_file", "") / "below";
    copies.expect_private("a_file");
    fs::create_symlink("nowhere", copies.folder.path() / "a_link");
    copies.options.folder = copies.folder.path() / "a_link";
    copies.expect_private("a_link");
    copies.options.folder = copies.folder.path() / "copies";
    fs::create_directories(copies.options.folder / "taken");

    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1'080'000, 1'080'000};
        setrlimit(RLIMIT_FSIZE, &limit);
        copies.options.bytes_max = 1 << 30;
        Reader reader;
        const SharingOutcome outcome = copies.use(reader);
        const bool said = outcome.why_not.find("the disk is full") != std::string::npos;
        _exit(said && reader.numbers == source_numbers() && copies.files().size() == 1 ? 42 : 1);
    }
    EXPECT_EQ(exit_code_of(child), 42);
}

TEST(UseCopy, a_source_that_changes_while_it_is_read_has_no_copy) {
    const CopyFolder copies;
    Reader reader;
    int asked = 0;
    const SharingOutcome outcome = use_copy(
        copies.options, [&] { return CopyFacts{.text = fmt::format("facts {}", ++asked)}; },
        reader.copied());
    EXPECT_EQ(outcome.sharing, Sharing::none);
    EXPECT_EQ(outcome.why_not, "its files were changed while they were read");
    EXPECT_EQ(reader.opened, 1);
    EXPECT_TRUE(copies.files().empty());
}

TEST(UseCopy, an_error_of_the_source_is_the_callers_and_nothing_is_left) {
    const CopyFolder copies;
    const Copied broken{.open = [] { throw DataError({.file = "a.csv", .message = "no"}); },
                        .write = [](CopyWriter&) {},
                        .read = [](CopyReader&) {}};
    EXPECT_EQ(to_string(data_problem_of([&] {
                  use_copy(
                      copies.options, [] { return CopyFacts{.text = "x"}; }, broken);
              })),
              "a.csv: no");
    EXPECT_TRUE(copies.files().empty());
}

TEST(UseCopy, a_copy_that_was_removed_stays_readable_for_who_has_it) {
    const CopyFolder copies;
    Reader first;
    ASSERT_EQ(copies.use(first).sharing, Sharing::made);
    const fs::path path = copies.files()[0];
    const auto before = fs::last_write_time(path);
    fs::last_write_time(path, before - std::chrono::hours(5));
    const auto mapped = find_copy(path, 1).value();
    ASSERT_TRUE(mapped);
    EXPECT_GE(fs::last_write_time(path), before) << "used just now";
    fs::remove(path);
    CopyReader reader(mapped->keeper, mapped->content);
    EXPECT_EQ(reader.text(), "numbers");
    EXPECT_EQ(reader.numbers<std::int64_t>().size(), source_numbers().size());
}

}    // namespace slipway
