// Goal: what processes keep in one file they all find, to the bit; what is cut off, changed, full
// or abandoned is an image that is not there, and nothing worse. Method: files of a few images,
// written by this process and by children that are killed.
#include "executor/data/shared/pixel_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "api/base/clock.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t image_count = 20;
constexpr std::size_t pixels_at = 64 + 40 * image_count;

Image image_of(std::int64_t sample) {
    return patterned_image(sample % 2 == 0 ? 3 : 1, 5 + sample % 3, 7, int(sample));
}

bool same(const std::optional<Image>& found, const Image& wanted) {
    return found && found->channels == wanted.channels && found->height == wanted.height &&
           found->width == wanted.width && found->pixels == wanted.pixels;
}

struct Pixels {
    TempFolder folder;
    fs::path path = folder.path() / "x.pixels";
    PixelFileLimits limits{.bytes_max = 1 << 20, .wait_max = std::chrono::milliseconds(200)};

    PixelFile open() const { return {path, image_count, limits}; }
    void fill() const {
        const PixelFile pixels = open();
        for (std::int64_t i = 0; i < image_count; ++i)
            ASSERT_TRUE(pixels.keep(i, image_of(i)));
    }
    void expect_all(const PixelFile& pixels) const {
        for (std::int64_t i = 0; i < image_count; ++i)
            EXPECT_TRUE(same(pixels.find(i), image_of(i))) << i;
    }
    /// How many are as they were; the others are absent.
    int found_count(const PixelFile& pixels) const {
        int count = 0;
        for (std::int64_t i = 0; i < image_count; ++i) {
            const auto found = pixels.find(i);
            EXPECT_TRUE(!found || same(found, image_of(i))) << i;
            count += found ? 1 : 0;
        }
        return count;
    }
};

int exit_code_of(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double ms_since(Tick begin) {
    return std::chrono::duration<double, std::milli>(system_clock().tick() - begin).count();
}

}    // namespace

TEST(PixelFile, what_one_keeps_another_finds) {
    const Pixels set;
    const PixelFile first = set.open(), second = set.open();
    EXPECT_FALSE(second.find(3));
    ASSERT_TRUE(first.keep(3, image_of(3)));
    EXPECT_TRUE(same(second.find(3), image_of(3)));
    EXPECT_FALSE(second.find(2));
    EXPECT_EQ(second.refused_count(), 0);
    ASSERT_TRUE(second.keep(2, image_of(2)));
    ASSERT_TRUE(first.keep(3, image_of(3))) << "twice is no harm";
    EXPECT_TRUE(same(first.find(2), image_of(2)));
    EXPECT_TRUE(same(first.find(3), image_of(3)));
}

TEST(PixelFile, processes_that_write_at_once_keep_all_of_it) {
    const Pixels set;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const PixelFile pixels = set.open();
            bool kept = true;
            for (std::int64_t j = 0; j < image_count; ++j)
                kept &= pixels.keep((j + i) % image_count, image_of((j + i) % image_count));
            _exit(kept ? 42 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children)
        EXPECT_EQ(exit_code_of(child), 42);
    const PixelFile pixels = set.open();
    set.expect_all(pixels);
    EXPECT_EQ(pixels.refused_count(), 0);
    EXPECT_FALSE(fs::exists(set.path.string() + ".tmp"));
}

TEST(PixelFile, changed_bytes_are_an_image_that_is_not_there) {
    const Pixels set;
    set.fill();
    const std::string whole = read_file(set.path);
    const std::size_t record = 64 + 40 * 4;    // of image 4
    for (const std::size_t at : {record, record + 9, record + 13, record + 20, record + 24,
                                 record + 31, pixels_at, whole.size() - 1}) {
        set.folder.write("x.pixels", with_flipped_byte(whole, at));
        const PixelFile pixels = set.open();
        EXPECT_EQ(set.found_count(pixels), image_count - 1) << at;
        EXPECT_EQ(pixels.refused_count(), 1) << at;
        for (std::int64_t i = 0; i < image_count; ++i)
            if (!pixels.find(i)) EXPECT_TRUE(pixels.keep(i, image_of(i)));
        set.expect_all(pixels);
    }
}

TEST(PixelFile, a_record_in_the_place_of_another_one_is_refused) {
    const Pixels set;
    set.fill();
    std::string text = read_file(set.path);
    text.replace(64 + 40 * 5, 32, text.substr(64 + 40 * 7, 32));
    set.folder.write("x.pixels", text);
    EXPECT_FALSE(set.open().find(5));
    EXPECT_TRUE(set.open().find(7));
}

TEST(PixelFile, a_file_that_is_cut_off_under_its_readers_loses_images_alone) {
    const Pixels set;
    set.fill();
    const PixelFile reader = set.open();
    const auto size = std::int64_t(fs::file_size(set.path));
    for (const std::int64_t left : {size - 1, std::int64_t(pixels_at) + 300,
                                    std::int64_t(pixels_at), std::int64_t{300}, std::int64_t{0}}) {
        fs::resize_file(set.path, std::uintmax_t(left));
        EXPECT_LT(set.found_count(reader), int(image_count)) << left;
    }
    EXPECT_FALSE(reader.keep(1, image_of(1)));
    EXPECT_EQ(reader.why_closed(), "it was cut off");
    EXPECT_TRUE(set.open().keep(1, image_of(1))) << "the next one makes it again";
}

TEST(PixelFile, another_file_of_its_name_is_replaced) {
    const Pixels set;
    set.fill();
    const std::string whole = read_file(set.path);
    for (const std::string& text : {std::string(), std::string("words"),
                                    whole.substr(0, pixels_at - 1), with_flipped_byte(whole, 3),
                                    with_flipped_byte(whole, 16), with_flipped_byte(whole, 24)}) {
        set.folder.write("x.pixels", text);
        const PixelFile pixels = set.open();
        EXPECT_EQ(set.found_count(pixels), 0);
        EXPECT_TRUE(pixels.keep(1, image_of(1)));
        EXPECT_TRUE(set.open().find(1));
    }
    fs::remove(set.path);
    fs::create_directories(set.path / "folder");
    EXPECT_EQ(error_code_of([&] { set.open(); }), ErrorCode::unavailable);
}

TEST(PixelFile, one_that_was_removed_stays_good_for_who_has_it) {
    const Pixels set;
    set.fill();
    const PixelFile reader = set.open();
    fs::remove(set.path);
    set.expect_all(reader);
    EXPECT_FALSE(set.open().find(1));
}

TEST(PixelFile, opening_marks_it_as_used) {
    const Pixels set;
    set.fill();
    const auto before = fs::last_write_time(set.path);
    fs::last_write_time(set.path, before - std::chrono::hours(5));
    set.open();
    EXPECT_GE(fs::last_write_time(set.path), before);
}

TEST(PixelFile, above_its_size_nothing_more_is_kept_and_it_says_why) {
    Pixels set;
    set.limits.bytes_max = std::int64_t(pixels_at) + 300;
    const PixelFile pixels = set.open();
    std::int64_t kept = 0;
    while (pixels.keep(kept, image_of(kept)))
        ++kept;
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 5);
    EXPECT_LE(pixels.bytes(), set.limits.bytes_max);
    EXPECT_TRUE(pixels.is_closed());
    EXPECT_NE(pixels.why_closed().find("the most that it may have"), std::string::npos);
    EXPECT_EQ(set.found_count(pixels), kept);
}

TEST(PixelFile, a_full_disk_costs_the_images_that_find_no_room) {
    const Pixels set;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{pixels_at + 250, pixels_at + 250};
        setrlimit(RLIMIT_FSIZE, &limit);
        const PixelFile pixels = set.open();
        std::int64_t kept = 0;
        while (pixels.keep(kept, image_of(kept)))
            ++kept;
        const bool said = pixels.why_closed() == "the disk is full";
        _exit(said && kept > 0 && set.found_count(pixels) == kept ? 42 : 1);
    }
    EXPECT_EQ(exit_code_of(child), 42);
    const pid_t none = fork();
    ASSERT_GE(none, 0);
    if (none == 0) {
        fs::remove(set.path);
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100, 100};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(error_code_of([&] { set.open(); }) == ErrorCode::exhausted && !fs::exists(set.path)
                  ? 42
                  : 1);
    }
    EXPECT_EQ(exit_code_of(none), 42);
}

TEST(PixelFile, who_claims_an_image_is_waited_for_and_then_it_is_there) {
    const Pixels set;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const PixelFile pixels = set.open();
        pixels.claim(4);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        poll(nullptr, 0, 30);
        pixels.keep(4, image_of(4));
        pixels.release(4);
        _exit(42);
    }
    close(ends[1]);
    char there = 0;
    ASSERT_EQ(read(ends[0], &there, 1), 1);
    const PixelFile pixels = set.open();
    EXPECT_FALSE(pixels.claim(5));
    EXPECT_TRUE(pixels.claim(4));
    EXPECT_TRUE(same(pixels.find(4), image_of(4)));
    EXPECT_EQ(exit_code_of(child), 42);
    close(ends[0]);
}

TEST(PixelFile, a_claim_of_one_that_was_killed_or_came_back_ends_by_itself) {
    Pixels set;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        set.open().claim(4);
        raise(SIGKILL);
    }
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    const PixelFile pixels = set.open();
    const Tick begin = system_clock().tick();
    pixels.claim(4);
    EXPECT_LT(ms_since(begin), 5000);

    // A machine that has started again counts from 0, and another one's clock says something else.
    std::string text = read_file(set.path);
    text.replace(64 + 40 * 6 + 32, 8, std::string(8, '\x7F'));
    set.folder.write("x.pixels", text);
    EXPECT_FALSE(set.open().claim(6));
}

TEST(PixelFile, one_that_never_lets_go_is_waited_for_once) {
    Pixels set;
    set.limits.wait_max = std::chrono::milliseconds(50);
    set.open();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        PixelFileLimits rude = set.limits;
        rude.wait_max = std::chrono::milliseconds(0);
        const PixelFile pixels(set.path, image_count, rude);
        for (bool told = false;; told = true) {
            for (std::int64_t i = 0; i < image_count; ++i)
                pixels.claim(i);
            if (!told && write(ends[1], "x", 1) != 1) _exit(1);
        }
    }
    close(ends[1]);
    char there = 0;
    ASSERT_EQ(read(ends[0], &there, 1), 1);
    const PixelFile pixels = set.open();
    const Tick begin = system_clock().tick();
    for (std::int64_t i = 0; i < image_count; ++i)
        pixels.claim(i);
    EXPECT_LT(ms_since(begin), 50 * image_count / 2);
    kill(child, SIGKILL);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    close(ends[0]);
}

}    // namespace slipway
