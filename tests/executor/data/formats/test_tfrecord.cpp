// Goal: TFRecord files are read as Python's struct and protobuf read them, and a bad record is
// named with its number, its byte and the feature.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "executor/data/dataset.h"
#include "tests/executor/data/formats/independent_set.h"
#include "tests/executor/data/formats/make_records.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

std::string point(std::int64_t label, const std::vector<float>& x) {
    return framed(example({{"label", ints({label})}, {"x", floats(x)}, {"n", ints({7})}}));
}

/// Three records of two numbers.
struct SmallSet {
    TempFolder folder;
    std::string records = point(4, {0.5F, 1}) + point(2, {-1, 3}) + point(4, {0, 0});

    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        folder.write("train.tfrecord", records);
        return open_dataset("tfrecord", folder.path(), options);
    }
    DataProblem problem(const DatasetOptions& options = {}) const {
        return data_problem_of([&] { open(options); });
    }
};

}    // namespace

TEST(Tfrecord, ten_thousand_records_of_numbers_as_python_reads_them) {
    const IndependentSet set("numbers");
    if (!set.possible) GTEST_SKIP() << "needs python3-protobuf";
    ASSERT_EQ(set.lines.size(), 10'000U);
    const auto dataset =
        open_dataset("tfrecord", set.folder.path() / "set", {.feature_columns = {"x", "n", "y"}});
    expect_same(set, *dataset, false);
    EXPECT_EQ(dataset->files().size(), 3U);
}

TEST(Tfrecord, ten_thousand_records_of_images_as_python_reads_them) {
    const IndependentSet set("images");
    if (!set.possible) GTEST_SKIP() << "needs python3-protobuf";
    ASSERT_EQ(set.lines.size(), 10'000U);
    const auto dataset =
        open_dataset("tfrecord", set.folder.path() / "set",
                     {.label_column = "image/class/text", .image_column = "image/encoded"});
    expect_same(set, *dataset, true);
}

TEST(Tfrecord, numbers_are_side_by_side_and_labels_are_classes) {
    const SmallSet set;
    const auto dataset = set.open();
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3}));
    EXPECT_EQ(features_of(*dataset, 1), (std::vector<float>{7, -1, 3}));    // by name: n, x
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"2", "4"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(dataset->index().part_names, std::vector<std::string>{"train"});
    EXPECT_EQ(dataset->place(2).row, 3);
    EXPECT_EQ(features_of(*set.open({.feature_columns = {"x"}}), 0), (std::vector<float>{0.5F, 1}));
}

TEST(Tfrecord, a_label_is_a_name_or_a_place_among_the_names) {
    const SmallSet set;
    EXPECT_EQ(set.open({.class_names = {"a", "b", "c", "d", "e"}})->label(0), 4);
    EXPECT_EQ(set.open({.class_names = {"4", "2"}})->label(0), 0);
    const DataProblem problem = set.problem({.class_names = {"a", "b", "c"}});
    EXPECT_EQ(problem.row, 1);
    EXPECT_EQ(problem.field, "label");
    EXPECT_TRUE(says(problem, "\"4\" is neither in class_names nor an index into it, 0 to 2"))
        << problem.message;
}

TEST(Tfrecord, labels_may_be_numbers_one_or_several_in_a_feature) {
    const auto record = [](std::vector<std::int64_t> found, float age) {
        return framed(
            example({{"found", ints(found)}, {"age", floats({age})}, {"x", floats({7})}}));
    };
    SmallSet set;
    set.records = record({1, 0}, 30.5F) + record({0, 1}, -2);
    const auto dataset = set.open({.label_columns = {"age", "found"}});
    EXPECT_EQ(dataset->index().target_names,
              (std::vector<std::string>{"age", "found[0]", "found[1]"}));
    const auto targets = dataset->targets(1);
    EXPECT_EQ((std::vector<float>{targets.begin(), targets.end()}), (std::vector<float>{-2, 0, 1}));
    EXPECT_EQ(features_of(*dataset, 0), std::vector<float>{7});
    EXPECT_EQ(dataset->index().class_count(), 0);

    const DataProblem share = set.problem({.label_columns = {"age"}, .labels_are_shares = true});
    EXPECT_EQ(share.row, 1);
    EXPECT_EQ(share.field, "age");
    EXPECT_TRUE(says(share, "must be from 0 to 1, got 30.5")) << share.message;
    set.records += record({1}, 0);
    const DataProblem shorter = set.problem({.label_columns = {"found"}});
    EXPECT_EQ(shorter.row, 3);
    EXPECT_EQ(shorter.field, "found");
    EXPECT_TRUE(says(shorter, "1 values where the first record has 2")) << shorter.message;
    EXPECT_TRUE(says(set.problem({.label_columns = {"weight"}}), "Set label_columns"));
    set.records = framed(example({{"found", texts({"yes"})}, {"x", floats({7})}}));
    EXPECT_TRUE(says(set.problem({.label_columns = {"found"}}), "bytes, not numbers"));
}

TEST(Tfrecord, groups_come_from_a_feature) {
    const TempFolder folder;
    folder.write(
        "a.tfrecord",
        framed(example({{"kind", texts({"x"})}, {"who", texts({"p"})}, {"v", floats({1})}})) +
            framed(example({{"kind", texts({"y"})}, {"who", ints({3})}, {"v", floats({2})}})));
    const auto dataset =
        open_dataset("tfrecord", folder.path(), {.label_column = "kind", .group_column = "who"});
    EXPECT_EQ(dataset->index().group_names, (std::vector<std::string>{"3", "p"}));
    EXPECT_EQ(dataset->index().groups, (std::vector<std::int32_t>{1, 0}));
    EXPECT_EQ(dataset->index().feature_dims, (Dims{1}));
}

TEST(Tfrecord, a_plain_file_that_begins_like_gzip_is_none) {
    for (std::size_t pad = 35500; pad < 35615; ++pad) {    // until the length is 0x8B1F
        const std::string record = example(
            {{"label", ints({1})}, {"x", floats({1})}, {"pad", texts({std::string(pad, 'p')})}});
        if (record.size() != 35615) continue;
        const TempFolder folder;
        folder.write("a.tfrecord", framed(record));
        EXPECT_EQ(read_file(folder.path() / "a.tfrecord").substr(0, 2), "\x1F\x8B");
        EXPECT_EQ(open_dataset("tfrecord", folder.path())->size(), 1);
        return;
    }
    FAIL() << "no record of 35615 bytes was made";
}

TEST(Tfrecord, every_cut_is_named_with_record_and_byte_or_inputs_whole_records) {
    const SmallSet good;
    const std::size_t size = good.records.size() / 3;
    for (std::size_t length = 1; length < good.records.size(); ++length) {
        SmallSet set;
        set.records.resize(length);
        if (length % size == 0) {
            EXPECT_EQ(set.open()->size(), std::int64_t(length / size));
            continue;
        }
        const DataProblem problem = set.problem();
        EXPECT_EQ(problem.row, std::int64_t(length / size + 1)) << length;
        EXPECT_TRUE(says(problem, "byte " + std::to_string(length / size * size)))
            << problem.message;
    }
}

TEST(Tfrecord, every_changed_byte_is_found_by_a_checksum) {
    const SmallSet good;
    const std::size_t size = good.records.size() / 3;
    for (std::size_t at = 0; at < good.records.size(); ++at) {
        SmallSet set;
        set.records = with_flipped_byte(set.records, at);
        const DataProblem problem = set.problem();
        EXPECT_EQ(problem.file, "train.tfrecord");
        EXPECT_EQ(problem.row, std::int64_t(at / size + 1)) << at;
        EXPECT_TRUE(says(problem, "checksum")) << problem.message;
    }
}

TEST(Tfrecord, a_file_compressed_with_zlib_is_called_that) {
    const TempFolder folder;
    folder.write("t.tfrecord", "\x78\x9C" + std::string(30, 'x'));
    EXPECT_TRUE(says(data_problem_of([&] { open_dataset("tfrecord", folder.path()); }), "zlib"));
}

TEST(Tfrecord, a_damaged_gzip_file_is_named) {
    SmallSet set;
    set.records = gzipped(set.records);
    EXPECT_EQ(set.open()->size(), 3);
    const std::string packed = set.records;
    for (std::size_t length = 14; length < packed.size(); ++length) {
        set.records = packed.substr(0, length);
        EXPECT_EQ(set.problem().file, "train.tfrecord") << length;
    }
    set.records = with_flipped_byte(packed, packed.size() - 6);
    EXPECT_EQ(set.problem().file, "train.tfrecord");
}

TEST(Tfrecord, a_bad_record_is_named_with_its_feature) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto n = ints({7});
    struct Case {
        std::string record, field, words;
    };
    const std::vector<Case> cases = {
        {example({{"label", ints({1})}, {"x", floats({1, nan})}, {"n", n}}), "x",
         "value 2 of 2 is nan"},
        {example({{"label", ints({1})}, {"x", floats({1})}, {"n", n}}), "x",
         "1 values where the first record has 2"},
        {example({{"label", ints({1})}, {"x", texts({"a", "b"})}, {"n", n}}), "x",
         "bytes, not numbers"},
        {example({{"label", ints({1})}, {"n", n}}), "x", "it has \"label\" (int64), \"n\" (int64)"},
        {example({{"x", floats({1, 2})}, {"n", n}}), "label", "no such feature"},
        {example({{"label", ints({1, 2})}, {"x", floats({1, 2})}, {"n", n}}), "label",
         "2 values (int64)"},
        {example({{"label", floats({1})}, {"x", floats({1, 2})}, {"n", n}}), "label",
         "1 values (float)"},
        {example({{"label", texts({""})}, {"x", floats({1, 2})}, {"n", n}}), "label", "empty"},
        {example({{"label", texts({"\xFF"})}, {"x", floats({1, 2})}, {"n", n}}), "label",
         "not UTF-8"},
        {"hello", "", "not a tf.train.Example"},
        {"", "label", "it has none"},
    };
    for (const Case& c : cases) {
        SmallSet set;
        const std::size_t begin = set.records.size();
        set.records += framed(c.record);
        const DataProblem problem = set.problem();
        EXPECT_EQ(problem.file, "train.tfrecord");
        EXPECT_EQ(problem.row, 4);
        EXPECT_EQ(problem.field, c.field) << problem.message;
        EXPECT_TRUE(says(problem, c.words)) << problem.message;
        EXPECT_TRUE(says(problem, "begins at byte " + std::to_string(begin))) << problem.message;
    }
}

TEST(Tfrecord, a_record_that_promises_too_much_takes_no_memory) {
    SmallSet set;
    std::string huge = framed("x");
    const std::string length("\0\0\0\0\0\1\0\0", 8);    // 1 TiB, and its right sum
    huge = length + framed(length).substr(8 + 4 + 8, 4) + "x";
    set.records += huge;
    const DataProblem problem = set.problem();
    EXPECT_EQ(problem.row, 4);
    EXPECT_TRUE(says(problem, "more than")) << problem.message;
}

TEST(Tfrecord, images_are_decoded_and_a_bad_one_is_named) {
    const auto record = [](int label, const std::string& image) {
        return framed(example({{"image", texts({image})}, {"label", ints({label})}}));
    };
    const std::string jpeg = jpeg_file(patterned_image(3, 8, 6, 1));
    const TempFolder folder;
    for (const bool packed : {false, true}) {
        const std::string records = record(0, png_file(patterned_image(3, 8, 6, 2))) +
                                    record(1, jpeg) + record(1, jpeg.substr(0, jpeg.size() / 2));
        folder.write("a.tfrecord", packed ? gzipped(records) : records);
        const auto dataset = open_dataset("tfrecord", folder.path());
        EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 8, 6}));
        const Image image = patterned_image(3, 8, 6, 2);
        EXPECT_EQ(features_of(*dataset, 0)[1], float(image.pixels[3]) / 255.0F);
        features_of(*dataset, 1);
        const DataProblem problem = data_problem_of([&] { features_of(*dataset, 2); });
        EXPECT_EQ(problem.file, "a.tfrecord");
        EXPECT_EQ(problem.row, 3);
        EXPECT_EQ(problem.field, "image");
        EXPECT_EQ(features_of(
                      *open_dataset("tfrecord", folder.path(), {.image_size = 4, .channels = 1}), 0)
                      .size(),
                  16U);
    }
}

namespace {

std::string pixel_bytes(const Image& image, bool planar) {
    std::string bytes;
    const auto channels = std::size_t(image.channels);
    const std::size_t area = image.pixels.size() / channels;
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        bytes += char(image.pixels[planar ? i % area * channels + i / area : i]);
    return bytes;
}

/// As TensorFlow's converters of MNIST write them; `bytes` and sides may contradict.
std::string raw_record(const std::string& bytes, const std::vector<std::int64_t>& sides) {
    return framed(example({{"image_raw", texts({bytes})},
                           {"height", ints({sides[0]})},
                           {"width", ints({sides[1]})},
                           {"depth", ints({sides[2]})},
                           {"label", ints({5})}}));
}

}    // namespace

TEST(Tfrecord, raw_pixels_are_images_too) {
    const Image gray = patterned_image(1, 4, 6, 1), small = patterned_image(1, 3, 5, 2);
    const Image colours = patterned_image(3, 4, 6, 3);
    const TempFolder folder;
    for (const bool packed : {false, true}) {
        const std::string records = raw_record(pixel_bytes(gray, false), {4, 6, 1}) +
                                    raw_record(pixel_bytes(small, false), {3, 5, 1});
        folder.write("a.tfrecord", packed ? gzipped(records) : records);
        DatasetOptions options{.image_column = "image_raw", .raw_pixels = PixelLayout::interleaved};
        const auto dataset = open_dataset("tfrecord", folder.path(), options);
        EXPECT_EQ(dataset->index().feature_dims, (Dims{1, 4, 6}));
        EXPECT_EQ(dataset->index().class_names, std::vector<std::string>{"5"});
        EXPECT_EQ(dataset->image(0).pixels, gray.pixels);
        EXPECT_EQ(features_of(*dataset, 0)[7], float(gray.pixels[7]) / 255.0F);
        EXPECT_TRUE(says(data_problem_of([&] { features_of(*dataset, 1); }), "set image_size"));
        options.image_size = 2;
        options.channels = 3;
        EXPECT_EQ(features_of(*open_dataset("tfrecord", folder.path(), options), 1).size(), 12U);
    }
    for (const bool planar : {false, true}) {
        folder.write("a.tfrecord", framed(example({{"image", texts({pixel_bytes(colours, planar)})},
                                                   {"label", ints({1})}})));
        const auto dataset =
            open_dataset("tfrecord", folder.path(),
                         {.raw_pixels = planar ? PixelLayout::planar : PixelLayout::interleaved,
                          .raw_shape = {4, 6, 3}});
        EXPECT_EQ(dataset->image(0).pixels, colours.pixels);
    }
}

TEST(Tfrecord, raw_pixels_that_contradict_their_sides_are_named_with_record_and_field) {
    const DatasetOptions options{.image_column = "image_raw",
                                 .raw_pixels = PixelLayout::interleaved};
    const auto problem_of = [&](const std::string& record, const DatasetOptions& how) {
        SmallSet set;
        set.records = raw_record(std::string(24, 'x'), {4, 6, 1}) + record;
        const DataProblem problem = set.problem(how);
        EXPECT_EQ(problem.file, "train.tfrecord");
        EXPECT_EQ(problem.row, 2);
        return problem;
    };
    DataProblem problem = problem_of(raw_record(std::string(23, 'x'), {4, 6, 1}), options);
    EXPECT_EQ(problem.field, "image_raw");
    EXPECT_TRUE(says(problem, "it has 23 bytes where 4 x 6 x 1 pixels are 24")) << problem.message;
    for (const std::vector<std::int64_t>& sides : {std::vector<std::int64_t>{4, 6, 2},
                                                   {0, 6, 1},
                                                   {-4, -6, 1},
                                                   {1 << 30, 1 << 30, 1},
                                                   {std::int64_t{1} << 62, 4, 1}}) {
        problem = problem_of(raw_record(std::string(24, 'x'), sides), options);
        EXPECT_EQ(problem.field, "image_raw");
        EXPECT_TRUE(says(problem, "a depth of 1 or 3")) << problem.message;
    }
    problem = problem_of(framed(example({{"image_raw", texts({std::string(24, 'x')})},
                                         {"height", floats({4})},
                                         {"width", ints({6})},
                                         {"depth", ints({1})},
                                         {"label", ints({5})}})),
                         options);
    EXPECT_EQ(problem.field, "height");
    EXPECT_TRUE(says(problem, "one int64 and has 1 values (float)")) << problem.message;
    DatasetOptions shape = options;
    shape.shape_columns = {"height", "width", "channels"};
    SmallSet set;
    set.records = raw_record(std::string(24, 'x'), {4, 6, 1});
    EXPECT_EQ(set.problem(shape).field, "channels");
    shape.raw_shape = {5, 5, 1};
    EXPECT_TRUE(says(set.problem(shape), "5 x 5 x 1 pixels are 25"));
    EXPECT_EQ(error_code_of([] { SmallSet().open({.raw_pixels = PixelLayout::planar}); }),
              ErrorCode::invalid_argument);
}

TEST(Tfrecord, options_that_do_not_fit_are_refused) {
    const SmallSet set;
    EXPECT_EQ(error_code_of([&] { set.open({.image_size = 8}); }), ErrorCode::invalid_argument);
    EXPECT_EQ(error_code_of([&] { set.open({.feature_columns = {"x"}, .image_column = "n"}); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(set.problem({.image_column = "n"}).field, "n");
    EXPECT_EQ(set.problem({.image_column = "none"}).field, "none");
    EXPECT_EQ(set.problem({.feature_columns = {"y"}}).field, "y");
    SmallSet bare;
    bare.records = framed(example({{"label", ints({1})}, {"name", texts({"x"})}}));
    EXPECT_TRUE(says(bare.problem(), "Set image_column or feature_columns"));
    bare.records = "";
    EXPECT_TRUE(says(bare.problem(), "no record"));
}

}    // namespace slipway
