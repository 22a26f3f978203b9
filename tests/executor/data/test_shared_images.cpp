// Goal: images that are shared are those that the dataset gives, to the bit; each is decoded once,
// and nothing that goes wrong with the file costs more than that.
// Method: small folders of photos of different sizes, read by several datasets.
#include "executor/data/shared/shared_images.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "executor/data/augment/steps.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int photo_count = 24;

/// A dataset and its shared images, as one job has them.
struct Reader {
    std::unique_ptr<Dataset> raw;
    SharedImages shared;

    const Dataset& images() const { return *shared.dataset; }
};

struct Photos {
    TempFolder folder;
    DatasetOptions how{.image_size = 8};
    SharedImagesOptions options{
        .sharing = {.folder = folder.path() / "copies", .settled_after = std::chrono::seconds(0)},
        .format = "image_folder",
        .data_path = folder.path() / "set"};

    Photos() {
        for (int i = 0; i < photo_count; ++i)
            folder.write(fmt::format("set/{}/{:02}.jpg", i % 2, i), photo(i));
    }
    static std::string photo(int i) {
        return jpeg_file(patterned_image(3, 20 + i % 5, 30 - i % 3, i));
    }
    std::unique_ptr<Dataset> plain() const {
        return open_dataset("image_folder", options.data_path, how);
    }
    Reader open() const {
        SharedImagesOptions opened = options;
        opened.opened_with = how;
        opened.opened_since = system_clock().now();
        Reader reader{.raw = plain(), .shared = {}};
        reader.shared = share_images(*reader.raw, opened);
        return reader;
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(options.sharing.folder, absent))
            found.push_back(entry.path());
        return found;
    }
    void expect_same(const Dataset& images) const {
        const auto wanted = plain();
        for (std::int64_t i = 0; i < photo_count; ++i) {
            EXPECT_EQ(images.image(i).pixels, wanted->image(i).pixels) << i;
            EXPECT_EQ(features_of(images, i), features_of(*wanted, i)) << i;
        }
    }
    void expect_private(const std::string& why) const {
        const Reader reader = open();
        EXPECT_FALSE(reader.shared.dataset);
        EXPECT_NE(reader.shared.why_not.find(why), std::string::npos) << reader.shared.why_not;
    }
};

}    // namespace

TEST(SharedImages, are_the_same_bits_and_decoded_once_by_all) {
    const Photos photos;
    const Reader first = photos.open();
    ASSERT_TRUE(first.shared.dataset) << first.shared.why_not;
    photos.expect_same(first.images());
    EXPECT_EQ(first.raw->decoded_count(), photo_count);
    const Reader second = photos.open();
    photos.expect_same(second.images());
    photos.expect_same(first.images());
    EXPECT_EQ(second.raw->decoded_count(), 0);
    EXPECT_EQ(first.raw->decoded_count(), photo_count) << "also in later epochs";
    EXPECT_GT(second.shared.bytes, first.shared.bytes);
    EXPECT_EQ(second.shared.refused_count(), 0);
    EXPECT_EQ(second.shared.why_closed(), "");
}

TEST(SharedImages, of_readers_that_are_there_at_once_each_finds_what_another_decodes) {
    const Photos photos;
    const Reader first = photos.open(), second = photos.open();
    for (std::int64_t i = 0; i < photo_count; ++i)
        (i % 2 == 0 ? first : second).images().image(i);
    photos.expect_same(first.images());
    photos.expect_same(second.images());
    EXPECT_EQ(first.raw->decoded_count() + second.raw->decoded_count(), photo_count);
}

TEST(SharedImages, threads_that_want_all_images_at_once_decode_few_twice) {
    const Photos photos;
    std::vector<Reader> readers;
    for (int i = 0; i < 4; ++i)
        readers.push_back(photos.open());
    {
        std::vector<std::jthread> threads;
        for (const Reader& reader : readers) {
            threads.emplace_back([&] {
                for (std::int64_t i = 0; i < photo_count; ++i)
                    reader.images().image(i);
            });
        }
    }
    std::int64_t decoded = 0;
    for (const Reader& reader : readers) {
        decoded += reader.raw->decoded_count();
        photos.expect_same(reader.images());
    }
    EXPECT_LT(decoded, 3 * photo_count);
}

TEST(SharedImages, steps_come_before_and_other_steps_sizes_or_files_are_another_file) {
    Photos photos;
    photos.how.image_size = 0;
    photos.options.steps = resize_to(12);
    photos.options.side_hint = 12;
    const Reader reader = photos.open();
    const auto plain = photos.plain();
    for (std::int64_t i = 0; i < photo_count; ++i)
        EXPECT_EQ(reader.images().image(i).pixels,
                  unaugmented(plain->image(i, 12), photos.options.steps).pixels);
    photos.options.steps = resize_to(13);
    photos.open();
    EXPECT_EQ(photos.files().size(), 2U);
    photos.how.channels = 1;
    photos.open();
    EXPECT_EQ(photos.files().size(), 3U);
    photos.how.truncated_images = TruncatedImages::skip;
    photos.open();
    EXPECT_EQ(photos.files().size(), 3U) << "whole images are the same ones";
    photos.folder.write("set/0/00.jpg", Photos::photo(99));
    photos.open();
    EXPECT_EQ(photos.files().size(), 4U);
    photos.options.sharing.reader = "another build";
    photos.open();
    EXPECT_EQ(photos.files().size(), 5U);
}

TEST(SharedImages, an_image_that_changed_is_read_as_it_is_now) {
    const Photos photos;
    photos.expect_same(photos.open().images());
    photos.folder.write("set/0/00.jpg", Photos::photo(99));
    const Reader after = photos.open();
    photos.expect_same(after.images());
}

TEST(SharedImages, images_of_another_size_are_refused_as_without) {
    Photos photos;
    photos.how.image_size = 0;
    const auto plain = photos.plain();
    const Reader reader = photos.open();
    const DataProblem without = data_problem_of([&] { features_of(*plain, 1); });
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(to_string(data_problem_of([&] { features_of(reader.images(), 1); })),
                  to_string(without));
}

TEST(SharedImages, damaged_images_are_not_shared_and_each_job_says_them) {
    Photos photos;
    const std::string whole = Photos::photo(2);
    photos.folder.write("set/0/02.jpg", whole.substr(0, whole.size() - 30));
    const auto plain = photos.plain();
    const DataProblem wanted = data_problem_of([&] { features_of(*plain, 1); });
    for (int i = 0; i < 2; ++i) {
        const Reader reader = photos.open();
        EXPECT_EQ(to_string(data_problem_of([&] { features_of(reader.images(), 1); })),
                  to_string(wanted));
        ASSERT_TRUE(reader.images().damage(1));
        EXPECT_EQ(to_string(*reader.images().damage(1)), to_string(wanted));
        EXPECT_FALSE(reader.images().damage(0));
    }
    photos.how.truncated_images = TruncatedImages::accept;
    for (int i = 0; i < 2; ++i) {
        const Reader reader = photos.open();
        photos.expect_same(reader.images());
        EXPECT_TRUE(reader.images().is_accepted(1));
        EXPECT_EQ(reader.images().take_accepted().size(), 1U);
        EXPECT_TRUE(reader.images().damage(1));
    }
}

TEST(SharedImages, looking_for_damage_decodes_for_others_too) {
    Photos photos;
    photos.how.truncated_images = TruncatedImages::skip;
    const Reader first = photos.open(), second = photos.open();
    for (std::int64_t i = 0; i < photo_count; ++i)
        EXPECT_FALSE(first.images().damage(i));
    for (std::int64_t i = 0; i < photo_count; ++i)
        EXPECT_FALSE(second.images().damage(i));
    photos.expect_same(second.images());
    EXPECT_EQ(first.raw->decoded_count(), photo_count);
    EXPECT_EQ(second.raw->decoded_count(), 0);
    fs::remove(photos.folder.path() / "set/1/01.jpg");
    const Reader third = photos.open();
    (void)third;
    photos.folder.write("set/1/01.jpg", "no image");
    const Reader fourth = photos.open();
    ASSERT_TRUE(fourth.images().damage(12));
    EXPECT_TRUE(says(*fourth.images().damage(12), "neither a JPEG nor a PNG"));
}

TEST(SharedImages, a_file_that_is_cut_off_or_changed_costs_decoding) {
    const Photos photos;
    photos.expect_same(photos.open().images());
    const fs::path path = photos.files()[0];
    const std::string whole = read_file(path);
    const std::string name = "copies/" + path.filename().string();
    for (const std::string& text :
         {whole.substr(0, whole.size() - 100), whole.substr(0, 200), std::string(),
          with_flipped_byte(whole, whole.size() - 50), with_flipped_byte(whole, 70)}) {
        photos.folder.write(name, text);
        const Reader reader = photos.open();
        photos.expect_same(reader.images());
        EXPECT_GT(reader.raw->decoded_count(), 0);
        EXPECT_LE(reader.raw->decoded_count(), photo_count);
    }
    const Reader reader = photos.open();
    fs::resize_file(path, 0);
    photos.expect_same(reader.images());
}

TEST(SharedImages, what_finds_no_room_is_kept_by_the_job_itself) {
    Photos photos;
    const std::int64_t all = photo_count * 3 * 8 * 8;
    photos.options.sharing.bytes_max = all;    // less the records
    const Reader reader = photos.open();
    ASSERT_TRUE(reader.shared.dataset) << reader.shared.why_not;
    for (int epoch = 0; epoch < 3; ++epoch)
        photos.expect_same(reader.images());
    EXPECT_EQ(reader.raw->decoded_count(), photo_count);
    EXPECT_NE(reader.shared.why_closed(), "");
    EXPECT_GT(photos.open().shared.bytes, 64);
}

TEST(SharedImages, sets_that_cannot_be_shared_say_why) {
    Photos photos;
    photos.options.sharing.bytes_max = photo_count * 3 * 8 * 8 - 1;
    photos.expect_private("they would take some 4608 bytes, and a copy may have 4607");
    EXPECT_TRUE(photos.files().empty());
    photos.options.sharing.bytes_max = 1 << 30;
    photos.options.sharing.settled_after = std::chrono::hours(1);
    photos.expect_private("its files were changed a moment ago");
    photos.options.sharing.settled_after = std::chrono::seconds(0);
    photos.options.sharing.folder = photos.folder.write("a_file", "") / "below";
    photos.expect_private("a_file");
    photos.options.sharing.folder.clear();
    const Reader alone = photos.open();
    EXPECT_FALSE(alone.shared.dataset);
    EXPECT_EQ(alone.shared.why_not, "");
}

}    // namespace slipway
