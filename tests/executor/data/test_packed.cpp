// Goal: images from a pack are those that the dataset gives, to the bit, and whatever happens to a
// pack costs a job its pack alone.
// Method: packs of small folders of photos, whole, cut, changed, half made and too large.
#include "executor/data/packed/packed_images.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "executor/data/packed/pack.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int photo_count = 24;

struct PackedPhotos {
    TempFolder folder;
    PackedPhotos() {
        for (int i = 0; i < photo_count; ++i)
            folder.write(fmt::format("set/{}/{:02}.jpg", i % 2, i),
                         jpeg_file(patterned_image(3, 20 + i % 5, 30 - i % 3, i)));
    }
    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        return open_dataset("image_folder", folder.path() / "set", options);
    }
    PackOptions options() const {
        return {
            .folder = folder.path() / "packs", .data_path = folder.path() / "set", .threads = 2};
    }
    std::vector<fs::path> packs() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(folder.path() / "packs"))
            found.push_back(entry.path());
        return found;
    }
    void spoil(std::size_t position) const {
        const fs::path path = packs()[0];
        const std::string text = read_file(path);
        folder.write("packs/" + path.filename().string(),
                     with_flipped_byte(text, position < text.size() ? position : text.size() - 1));
    }
};

}    // namespace

TEST(Packed, images_are_the_same_bits_and_decoded_once) {
    const PackedPhotos photos;
    for (const std::int64_t size : {0, 8}) {
        const DatasetOptions how{.image_size = size, .cache_bytes_max = 0};
        const auto plain = photos.open(how), first = photos.open(how), second = photos.open(how);
        const PackedImages made = pack_images(*first, photos.options());
        ASSERT_TRUE(made.dataset) << made.why_not;
        EXPECT_TRUE(made.made);
        EXPECT_EQ(first->decoded_count(), photo_count);
        const PackedImages used = pack_images(*second, photos.options());
        ASSERT_TRUE(used.dataset) << used.why_not;
        EXPECT_FALSE(used.made);
        for (const PackedImages* packed : {&made, &used}) {
            for (std::int64_t sample = 0; sample < photo_count; ++sample) {
                const Image wanted = plain->image(sample), found = packed->dataset->image(sample);
                EXPECT_EQ(found.pixels, wanted.pixels);
                EXPECT_EQ(found.height, wanted.height);
                if (size > 0)
                    EXPECT_EQ(features_of(*packed->dataset, sample), features_of(*plain, sample));
            }
            EXPECT_EQ(packed->refused_count(), 0);
        }
        EXPECT_EQ(second->decoded_count(), 0);
    }
    EXPECT_EQ(photos.packs().size(), 2U) << "one for each size, nothing half made";
}

TEST(Packed, images_of_another_size_are_refused_as_without) {
    const PackedPhotos photos;
    const auto plain = photos.open();
    const PackedImages packed = pack_images(*plain, photos.options());
    ASSERT_TRUE(packed.dataset);
    const DataProblem without = data_problem_of([&] { features_of(*plain, 1); });
    EXPECT_EQ(data_problem_of([&] { features_of(*packed.dataset, 1); }).message, without.message);
}

TEST(Packed, steps_come_before_and_other_steps_or_files_are_another_pack) {
    const PackedPhotos photos;
    const auto images = photos.open({.cache_bytes_max = 0});
    PackOptions options = photos.options();
    options.steps = resize_to(12);
    options.side_hint = 12;
    const PackedImages packed = pack_images(*images, options);
    ASSERT_TRUE(packed.dataset);
    EXPECT_EQ(packed.dataset->image(3).height, 12);
    options.steps = resize_to(13);
    EXPECT_TRUE(pack_images(*images, options).made);
    EXPECT_FALSE(pack_images(*images, options).made);
    const std::string other = jpeg_file(patterned_image(3, 21, 31, 99));
    photos.folder.write("set/0/00.jpg", other);
    const auto changed = photos.open({.cache_bytes_max = 0});
    EXPECT_TRUE(pack_images(*changed, options).made);
    EXPECT_EQ(photos.packs().size(), 3U);
}

TEST(Packed, damage_is_remembered_and_said_as_without) {
    const PackedPhotos photos;
    const std::string whole = jpeg_file(patterned_image(3, 22, 28, 2));
    photos.folder.write("set/0/02.jpg", whole.substr(0, whole.size() - 30));
    const auto plain = photos.open({.image_size = 8});
    pack_images(*plain, photos.options());
    const auto again = photos.open({.image_size = 8});
    const PackedImages packed = pack_images(*again, photos.options());
    ASSERT_TRUE(packed.dataset);
    const DataProblem wanted = data_problem_of([&] { features_of(*plain, 1); });
    const DataProblem found = data_problem_of([&] { features_of(*packed.dataset, 1); });
    EXPECT_EQ(to_string(found), to_string(wanted));
    ASSERT_TRUE(packed.dataset->damage(1));
    EXPECT_EQ(to_string(*packed.dataset->damage(1)), to_string(wanted));
    EXPECT_FALSE(packed.dataset->damage(0));

    const DatasetOptions accept{.image_size = 8, .truncated_images = TruncatedImages::accept};
    PackOptions options = photos.options();
    options.truncated_images = TruncatedImages::accept;
    const auto accepting = photos.open(accept), direct = photos.open(accept);
    for (const bool made : {true, false}) {
        const PackedImages taken = pack_images(*accepting, options);
        ASSERT_TRUE(taken.dataset);
        EXPECT_EQ(taken.made, made);
        EXPECT_EQ(features_of(*taken.dataset, 1), features_of(*direct, 1));
        EXPECT_EQ(taken.dataset->take_accepted().size(), 1U);
        EXPECT_TRUE(taken.dataset->take_accepted().empty());
    }
}

TEST(Packed, pixels_that_changed_on_the_disk_are_decoded_again) {
    const PackedPhotos photos;
    const auto images = photos.open({.image_size = 8});
    ASSERT_TRUE(pack_images(*images, photos.options()).made);
    photos.spoil(96 + 40 * photo_count + 5);    // of the first image
    const PackedImages packed = pack_images(*images, photos.options());
    ASSERT_TRUE(packed.dataset) << packed.why_not;
    for (std::int64_t sample = 0; sample < photo_count; ++sample)
        EXPECT_EQ(features_of(*packed.dataset, sample), features_of(*images, sample));
    EXPECT_EQ(packed.refused_count(), 1);
    EXPECT_TRUE(photos.packs().empty());
    EXPECT_TRUE(pack_images(*images, photos.options()).made);
}

TEST(Packed, every_byte_around_the_pixels_and_every_cut_is_noticed) {
    const PackedPhotos photos;
    const auto images = photos.open({.image_size = 4});
    ASSERT_TRUE(pack_images(*images, photos.options()).made);
    const fs::path path = photos.packs()[0];
    const std::string good = read_file(path);
    const std::size_t pixels = 96 + 40 * photo_count, end = good.size() - 2;    // problems: []
    ASSERT_EQ(end, pixels + photo_count * 48);
    const auto is_refused = [&](const std::string& text) {
        photos.folder.write("packs/" + path.filename().string(), text);
        const Result<std::optional<Pack>> pack = Pack::open(path, photo_count);
        return !pack && pack.error().code() == ErrorCode::data_loss;
    };
    for (std::size_t at = 0; at < good.size(); at += at < pixels ? 1 : 61)
        if (at < pixels || at >= end) EXPECT_TRUE(is_refused(with_flipped_byte(good, at))) << at;
    EXPECT_TRUE(is_refused(with_flipped_byte(good, good.size() - 1)));
    for (std::size_t length = 0; length < good.size(); length += 37)
        EXPECT_TRUE(is_refused(good.substr(0, length))) << length;
    EXPECT_TRUE(is_refused(good + "x"));
    const PackedImages without = pack_images(*images, photos.options());
    EXPECT_FALSE(without.dataset);
    EXPECT_NE(without.why_not.find("created again"), std::string::npos) << without.why_not;
    EXPECT_TRUE(pack_images(*images, photos.options()).made);
}

// What a process that was killed has left is taken over; what a living one has begun is not.
TEST(Packed, of_two_jobs_one_makes_it_and_a_half_made_one_is_taken_over) {
    const PackedPhotos photos;
    const auto images = photos.open({.image_size = 8});
    ASSERT_TRUE(pack_images(*images, photos.options()).made);
    const fs::path path = photos.packs()[0];
    const std::string good = read_file(path);
    fs::remove(path);
    const std::string unfinished = "packs/" + path.filename().string() + ".tmp";
    photos.folder.write(unfinished, good.substr(0, good.size() / 2));
    {
        const UniqueFd other(::open((photos.folder.path() / unfinished).c_str(), O_RDWR));
        ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
        const PackedImages without = pack_images(*images, photos.options());
        EXPECT_FALSE(without.dataset);
        EXPECT_NE(without.why_not.find("another job"), std::string::npos) << without.why_not;
    }
    EXPECT_TRUE(pack_images(*images, photos.options()).made);
    EXPECT_EQ(read_file(path), good);
    EXPECT_EQ(photos.packs().size(), 1U);
}

// Goal: whenever a process is killed that makes a pack, the next one makes it as if nothing had
// been. Method: a child that stops in the middle of the images, seen from outside and then killed.
TEST(Packed, a_process_that_is_killed_inputs_no_pack_and_the_next_one_makes_it) {
    constexpr std::int64_t count = 600;    // written in blocks of 256
    const auto image = [](std::int64_t sample) {
        return PackedImage{.image = patterned_image(3, 6, 5 + int(sample % 4), int(sample))};
    };
    const TempFolder folder;
    const fs::path whole = folder.path() / "whole" / "a.pack";
    ASSERT_EQ(write_pack(whole, count, packs_bytes_max, 1, image), PackOutcome::made);
    for (const std::int64_t stop_at : {0, 300, 599}) {
        const fs::path packs = folder.path() / fmt::format("killed_at_{}", stop_at);
        const fs::path path = packs / "a.pack", unfinished = packs / "a.pack.tmp";
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const UniqueFd read_end(ends[0]), write_end(ends[1]);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            write_pack(path, count, packs_bytes_max, 1, [&](std::int64_t sample) {
                if (sample == stop_at) {
                    if (write(write_end.get(), "x", 1) != 1) _exit(1);
                    for (;;)
                        pause();
                }
                return image(sample);
            });
            _exit(2);
        }
        char there = 0;
        ASSERT_EQ(read(read_end.get(), &there, 1), 1);
        EXPECT_FALSE(fs::exists(path));
        EXPECT_EQ(write_pack(path, count, packs_bytes_max, 1, image), PackOutcome::made_elsewhere);
        remove_old_packs(packs, path, packs_bytes_max);
        EXPECT_EQ(fs::exists(unfinished), true) << "its maker lives";
        EXPECT_EQ(fs::file_size(unfinished) > 0, stop_at >= 256) << "in the middle of writing";
        ASSERT_EQ(kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << status;

        EXPECT_TRUE(fs::exists(unfinished));
        const auto none = Pack::open(path, count);
        ASSERT_TRUE(none) << none.error().what();
        EXPECT_FALSE(*none);
        EXPECT_EQ(write_pack(path, count, packs_bytes_max, 2, image), PackOutcome::made);
        EXPECT_FALSE(fs::exists(unfinished));
        EXPECT_EQ(read_file(path), read_file(whole)) << stop_at;
    }
}

TEST(Packed, jobs_that_begin_at_once_all_get_their_images) {
    const PackedPhotos photos;
    const auto plain = photos.open({.image_size = 8});
    std::atomic<int> right = 0;
    {
        std::vector<std::jthread> jobs;
        for (int job = 0; job < 4; ++job) {
            jobs.emplace_back([&] {
                const auto images = photos.open({.image_size = 8});
                const PackedImages packed = pack_images(*images, photos.options());
                const Dataset& used = packed.dataset ? *packed.dataset : *images;
                for (std::int64_t sample = 0; sample < photo_count; ++sample)
                    right += features_of(used, sample) == features_of(*plain, sample);
            });
        }
    }
    EXPECT_EQ(right, 4 * photo_count);
    EXPECT_EQ(photos.packs().size(), 1U);
}

TEST(Packed, a_pack_that_is_too_large_or_cannot_be_written_inputs_nothing) {
    const PackedPhotos photos;
    const auto images = photos.open({.image_size = 8});
    PackOptions options = photos.options();
    options.bytes_max = 1000;
    const PackedImages large = pack_images(*images, options);
    EXPECT_FALSE(large.dataset);
    EXPECT_NE(large.why_not.find("larger than 1000 bytes"), std::string::npos) << large.why_not;
    EXPECT_TRUE(photos.packs().empty());
    options = photos.options();
    options.folder = photos.folder.write("a_file", "x") / "below";
    EXPECT_FALSE(pack_images(*images, options).dataset);
    EXPECT_FALSE(pack_images(*images, options).why_not.empty());
}

// A child process that may write files of at most 500 bytes; the parent sees its exit.
TEST(Packed, a_full_disk_costs_the_pack_alone) {
    const PackedPhotos photos;
    const auto images = photos.open({.image_size = 8});
    PackOptions options = photos.options();
    options.threads = 1;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const rlimit limit{500, 500};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        const PackedImages without = pack_images(*images, options);
        const bool said = without.why_not.find("the disk is full") != std::string::npos;
        _exit(!without.dataset && said && photos.packs().empty() ? 42 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_TRUE(photos.packs().empty());
}

TEST(Packed, the_packs_used_least_recently_make_room) {
    const TempFolder folder;
    const auto pack = [&](const std::string& name, int age, std::size_t bytes) {
        const fs::path path = folder.write(name, std::string(bytes, 'x'));
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(age));
        return path;
    };
    const fs::path oldest = pack("a.pack", 3, 100), kept = pack("b.pack", 2, 100);
    const fs::path old = pack("c.pack", 1, 100), newest = pack("d.pack", 0, 100);
    const fs::path left_over = pack("e.pack.tmp", 5, 10), foreign = pack("notes.txt", 9, 1000);
    remove_old_packs(folder.path(), kept, 250);
    EXPECT_FALSE(fs::exists(oldest));
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(newest));
    EXPECT_FALSE(fs::exists(left_over));
    EXPECT_TRUE(fs::exists(foreign));
}

}    // namespace slipway
