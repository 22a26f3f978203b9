#include "executor/cache/object_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Bytes that belong to this key and no other.
std::string object_of(std::uint64_t number, std::size_t bytes = 3000) {
    std::string object;
    for (std::uint64_t i = 0; object.size() < bytes; ++i)
        object += std::to_string(number * 7919 + i) + ";";
    return object;
}

struct Cache : testing::Test {
    TempFolder temporary;
    const fs::path folder = temporary.path() / "cache";

    ObjectCache open(const std::string& environment = "this machine",
                     std::int64_t bytes_max = 1 << 24) const {
        return ObjectCache({.folder = folder, .environment = environment, .bytes_max = bytes_max});
    }
    std::vector<fs::path> entries() const {
        std::vector<fs::path> found;
        for (const auto& each : fs::directory_iterator(folder))
            if (each.path().extension() == ".obj") found.push_back(each.path());
        return found;
    }
    static void overwrite(const fs::path& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }
};

TEST_F(Cache, gives_back_what_was_stored_also_to_the_next_process) {
    ObjectCache first = open();
    EXPECT_EQ(first.find({1, 2}), std::nullopt);
    first.store({1, 2}, object_of(1));
    first.store({1, 3}, "");
    EXPECT_EQ(first.find({1, 2}), object_of(1));
    ObjectCache second = open();
    EXPECT_EQ(second.find({1, 2}), object_of(1));
    EXPECT_EQ(second.find({1, 3}), "");
    EXPECT_EQ(second.find({2, 1}), std::nullopt);
    EXPECT_EQ(first.counts().misses, 1);
    EXPECT_EQ(second.counts().hits, 2);
}

TEST_F(Cache, is_for_this_user_alone) {
    open().store({1, 1}, "code");
    struct stat found {};
    ASSERT_EQ(stat(folder.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    ASSERT_EQ(stat(entries()[0].c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    fs::permissions(folder, fs::perms::all);
    open();
    ASSERT_EQ(stat(folder.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(Cache, another_build_compiler_or_cpu_finds_nothing_and_takes_nothing_away) {
    ObjectCache here = open("cpu A"), there = open("cpu B");
    here.store({1, 1}, "for A");
    EXPECT_EQ(there.find({1, 1}), std::nullopt);
    there.store({1, 1}, "for B");
    EXPECT_EQ(here.find({1, 1}), "for A");
    EXPECT_EQ(there.find({1, 1}), "for B");
    // Even under the other's name it is not taken.
    const std::vector<fs::path> files = entries();
    ASSERT_EQ(files.size(), 2U);
    const std::string one = read_file(files[0]), other = read_file(files[1]);
    overwrite(files[0], other);
    overwrite(files[1], one);
    EXPECT_EQ(here.find({1, 1}), std::nullopt);
    EXPECT_EQ(there.find({1, 1}), std::nullopt);
    EXPECT_EQ(here.counts().damaged, 1);
}

TEST_F(Cache, an_entry_cut_anywhere_is_a_miss_and_is_removed) {
    ObjectCache cache = open();
    cache.store({5, 5}, object_of(5, 200));
    const fs::path path = entries().at(0);
    const std::string whole = read_file(path);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        overwrite(path, whole.substr(0, length));
        ASSERT_EQ(cache.find({5, 5}), std::nullopt) << length;
        ASSERT_FALSE(fs::exists(path)) << length;
    }
    overwrite(path, whole + "x");
    EXPECT_EQ(cache.find({5, 5}), std::nullopt);
    cache.store({5, 5}, "again");
    EXPECT_EQ(cache.find({5, 5}), "again");
}

TEST_F(Cache, every_flipped_bit_is_a_miss) {
    ObjectCache cache = open();
    cache.store({6, 6}, object_of(6, 100));
    const fs::path path = entries().at(0);
    const std::string whole = read_file(path);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << bit % 8));
        overwrite(path, flipped);
        ASSERT_EQ(cache.find({6, 6}), std::nullopt) << bit;
    }
    EXPECT_EQ(cache.counts().damaged, std::int64_t(whole.size() * 8));
}

TEST_F(Cache, what_is_no_plain_file_is_a_miss) {
    ObjectCache cache = open();
    cache.store({7, 7}, "seven");
    const fs::path path = entries().at(0);
    const fs::path elsewhere = temporary.path() / "elsewhere";
    fs::rename(path, elsewhere);
    fs::create_symlink(elsewhere, path);
    EXPECT_EQ(cache.find({7, 7}), std::nullopt);
    EXPECT_TRUE(fs::exists(elsewhere));
    fs::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(cache.find({7, 7}), std::nullopt);
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_EQ(cache.find({7, 7}), std::nullopt);
    cache.store({7, 7}, "seven");    // cannot be renamed onto a folder
    EXPECT_EQ(cache.counts().failed, 1);
}

TEST_F(Cache, stays_below_its_size_and_keeps_what_is_used) {
    constexpr std::int64_t bytes_max = 100 * 1200;
    ObjectCache cache = open("e", bytes_max);
    for (std::uint64_t i = 0; i < 90; ++i)
        cache.store({0, i}, object_of(i, 1000));
    // Made old by hand, as if it had been long ago; two of them are then used.
    for (const fs::path& path : entries()) {
        const std::array<timespec, 2> long_ago{timespec{1000, 0}, timespec{1000, 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago.data(), 0), 0);
    }
    EXPECT_TRUE(cache.find({0, 3}));
    EXPECT_TRUE(cache.find({0, 77}));
    for (std::uint64_t i = 100; i < 150; ++i) {
        cache.store({0, i}, object_of(i, 1000));
        std::int64_t bytes = 0;
        for (const fs::path& path : entries())
            bytes += std::int64_t(fs::file_size(path));
        ASSERT_LE(bytes, bytes_max);
    }
    EXPECT_EQ(cache.find({0, 3}), object_of(3, 1000));
    EXPECT_EQ(cache.find({0, 77}), object_of(77, 1000));
    EXPECT_EQ(cache.find({0, 149}), object_of(149, 1000));
    EXPECT_GT(cache.counts().evicted, 30);
    cache.store({9, 9}, std::string(bytes_max, 'x'));
    EXPECT_EQ(cache.counts().failed, 1);
}

TEST_F(Cache, the_first_entry_stored_with_less_room_makes_it) {
    ObjectCache cache = open();
    for (std::uint64_t i = 0; i < 20; ++i)
        cache.store({0, i}, object_of(i, 1000));
    ObjectCache smaller = open("this machine", 6000);
    smaller.store({0, 20}, object_of(20, 1000));
    EXPECT_GT(smaller.counts().evicted, 10);
    EXPECT_LE(entries().size(), 5U);
}

TEST_F(Cache, what_dead_writers_left_goes_and_what_is_being_written_stays) {
    open();
    overwrite(folder / "old.tmp", "half");
    overwrite(folder / "fresh.tmp", "half");
    overwrite(folder / "notes.txt", "not ours");
    const std::array<timespec, 2> long_ago{timespec{1000, 0}, timespec{1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (folder / "old.tmp").c_str(), long_ago.data(), 0), 0);
    open().store({1, 1}, "one");
    EXPECT_FALSE(fs::exists(folder / "old.tmp"));
    EXPECT_TRUE(fs::exists(folder / "fresh.tmp"));
    EXPECT_TRUE(fs::exists(folder / "notes.txt"));
}

ErrorCode refusal(const fs::path& folder) {
    try {
        ObjectCache({.folder = folder, .environment = "e"});
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(folder.string()));
        return error.code();
    }
    ADD_FAILURE() << folder << " was accepted";
    return ErrorCode::internal;
}

TEST_F(Cache, a_folder_that_is_a_file_a_link_or_nowhere_is_refused) {
    EXPECT_EQ(refusal(temporary.write("file", "x")), ErrorCode::permission_denied);
    fs::create_directory(temporary.path() / "real");
    fs::create_symlink(temporary.path() / "real", temporary.path() / "link");
    EXPECT_EQ(refusal(temporary.path() / "link"), ErrorCode::permission_denied);
    EXPECT_EQ(refusal(temporary.path() / "no" / "where"), ErrorCode::unavailable);
    if (geteuid() != 0) return;    // only root can give a folder away
    fs::create_directory(temporary.path() / "theirs");
    ASSERT_EQ(chown((temporary.path() / "theirs").c_str(), 12345, 12345), 0);
    EXPECT_EQ(refusal(temporary.path() / "theirs"), ErrorCode::permission_denied);
}

TEST_F(Cache, a_folder_that_vanishes_costs_the_entries_only) {
    ObjectCache cache = open();
    cache.store({1, 1}, "one");
    fs::remove_all(folder);
    EXPECT_EQ(cache.find({1, 1}), std::nullopt);
    cache.store({1, 1}, "one");
    EXPECT_EQ(cache.counts().failed, 1);
}

/// Stores, finds and checks; a found entry is always the right one.
int use_hard(ObjectCache& cache, std::uint64_t seed) {
    int wrong = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
        const std::uint64_t number = (seed * 31 + i * 17) % 50;
        const std::string wanted = object_of(number, 500 + number * 40);
        const auto found = cache.find({number, number});
        if (!found) cache.store({number, number}, wanted);
        if (found && *found != wanted) ++wrong;
    }
    return wrong;
}

TEST_F(Cache, threads_share_it_while_room_is_made) {
    ObjectCache cache = open("e", 30000);
    std::array<int, 8> wrong{};
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < wrong.size(); ++i)
            threads.emplace_back([&, i] { wrong[i] = use_hard(cache, i); });
    }
    EXPECT_THAT(wrong, testing::Each(0));
    EXPECT_GT(cache.counts().hits, 0);
    EXPECT_GT(cache.counts().evicted, 0);
    EXPECT_EQ(cache.counts().failed, 0);
}

/// Flips bytes of whatever lies in the folder, for as long as the others work.
void damage(const fs::path& folder, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        std::error_code problem;
        for (const auto& each : fs::directory_iterator(folder, problem)) {
            const int file = ::open(each.path().c_str(), O_WRONLY | O_CLOEXEC);
            if (file < 0) continue;
            [[maybe_unused]] const auto wrote = pwrite(file, "?", 1, 40 + round % 200);
            if (round % 3 == 0) [[maybe_unused]]
                const auto cut = ftruncate(file, 100 + round);
            ::close(file);
        }
    }
}

TEST_F(Cache, processes_share_it_while_it_is_being_damaged) {
    open();
    std::vector<pid_t> children;
    for (std::uint64_t i = 0; i < 5; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            if (i == 4) damage(folder, 60);
            ObjectCache cache = open("e", 40000);
            _exit(i < 4 && use_hard(cache, i) != 0 ? 1 : 0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    ObjectCache cache = open("e", 40000);
    EXPECT_EQ(use_hard(cache, 99), 0);
}

TEST_F(Cache, of_two_who_make_an_entry_the_second_waits_and_finds_it) {
    ObjectCache first = open();
    ObjectCache second = open();
    std::optional<MakingTurn> turn = first.take_turn({1, 2});
    ASSERT_TRUE(turn->lock);
    EXPECT_FALSE(turn->waited);
    std::atomic<bool> stored = false;
    std::jthread other([&] {
        const MakingTurn its = second.take_turn({1, 2});
        EXPECT_TRUE(its.lock);
        EXPECT_EQ(second.find({1, 2}).has_value(), stored.load());
    });
    EXPECT_TRUE(second.take_turn({1, 3}).lock) << "another key is not waited for";
    first.store({1, 2}, "code");
    stored = true;
    turn.reset();
    other.join();
    EXPECT_EQ(second.find({1, 2}), "code");
}

TEST_F(Cache, a_maker_that_is_stopped_is_not_waited_for_forever) {
    ObjectCache first = open();
    ObjectCache second = open();
    const MakingTurn held = first.take_turn({1, 2});
    const MakingTurn its = second.take_turn({1, 2});
    EXPECT_FALSE(its.lock);
    EXPECT_TRUE(its.waited);
    fs::create_directory(folder / "making-03.lock");
    EXPECT_FALSE(second.take_turn({1, 3}).lock) << "no lock can be had: it is made without";
}

}    // namespace
}    // namespace slipway
