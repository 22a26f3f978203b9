#include <gtest/gtest.h>

#include "executor/data/dataset.h"
#include "executor/data/split.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// Three images of 2 x 2, with labels.
struct SmallSet {
    TempFolder folder;
    std::string images = idx_file({3, 2, 2}, std::string("\x00\x33\x66\xFF", 4) + "abcdefgh");
    std::string labels = idx_file({3}, std::string("\x02\x00\x01", 3));

    void write(const std::string& prefix = "train-") const {
        folder.write(prefix + "images-idx3-ubyte", images);
        folder.write(prefix + "labels-idx1-ubyte", labels);
    }
    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        return open_dataset("idx", folder.path(), options);
    }
    DataProblem problem(const DatasetOptions& options = {}) const {
        return data_problem_of([&] { open(options); });
    }
};

}    // namespace

TEST(Idx, reads_mnist_as_it_is_distributed) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const auto dataset = open_dataset("idx", test_data_folder() / "mnist10k");
    EXPECT_EQ(dataset->size(), 10'000);
    EXPECT_EQ(dataset->index().feature_dims, (Dims{1, 28, 28}));
    EXPECT_EQ(dataset->index().class_count(), 10);
    EXPECT_EQ(dataset->index().part_names, std::vector<std::string>{"t10k"});
    EXPECT_EQ(dataset->label(0), 7);    // "7, 2, 1, 0, 4" is how MNIST's test set begins
    EXPECT_EQ(dataset->label(1), 2);
    EXPECT_EQ(dataset->label(9999), 6);
    const std::vector<std::int64_t> digits{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    const Split all = split_samples(dataset->index(), {.val_fraction = 0});
    EXPECT_EQ(count_split(dataset->index(), all).train_classes, digits);
    const Moments moments = measure(*dataset, all.train, 2);
    EXPECT_NEAR(moments.mean[0], 0.1325, 0.0005);    // of the test set
    EXPECT_NEAR(moments.deviation[0], 0.3105, 0.0005);
}

TEST(Idx, scales_bytes_to_one_and_normalises_by_the_options) {
    SmallSet set;
    set.write();
    const auto dataset = set.open();
    EXPECT_EQ(features_of(*dataset, 0), (std::vector<float>{0, 0.2F, 0.4F, 1}));
    EXPECT_EQ(dataset->label(0), 2);
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"0", "1", "2"}));
    const auto normal = set.open({.mean = {0.5F}, .deviation = {0.25F}});
    EXPECT_EQ(features_of(*normal, 0)[3], 2.0F);
    EXPECT_EQ(features_of(*normal, 0)[0], -2.0F);
    EXPECT_EQ(error_code_of([&] { set.open({.mean = {0, 0}}); }), ErrorCode::invalid_argument);
}

TEST(Idx, gzip_is_known_by_content_and_parts_by_prefix) {
    SmallSet set;
    set.folder.write("train-images-idx3-ubyte", gzipped(set.images));    // no .gz in its name
    set.folder.write("train-labels-idx1-ubyte.gz", gzipped(set.labels));
    set.folder.write("t10k-images.idx3-ubyte", set.images);
    set.folder.write("t10k-labels.idx1-ubyte", set.labels);
    const auto dataset = set.open();
    EXPECT_EQ(dataset->size(), 6);
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"t10k", "train"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(features_of(*dataset, 1), features_of(*dataset, 4));
    EXPECT_EQ(dataset->place(4).file, "train-images-idx3-ubyte");
    EXPECT_EQ(dataset->place(4).row, 2);
}

TEST(Idx, brings_images_to_a_size_and_to_three_channels) {
    SmallSet set;
    set.write();
    const auto dataset = set.open({.image_size = 4, .channels = 3});
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 4, 4}));
    const std::vector<float> features = features_of(*dataset, 0);
    EXPECT_EQ(features[0], features[16]);
    EXPECT_EQ(features[15], features[47]);
    EXPECT_EQ(features[15], 1);
}

TEST(Idx, rows_of_numbers_are_columns) {
    TempFolder folder;
    folder.write("images-idx2-ubyte", idx_file({2, 3}, "abcdef"));
    folder.write("labels-idx1-ubyte", idx_file({2}, std::string("\0\1", 2)));
    const auto dataset = open_dataset("idx", folder.path());
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3}));
    EXPECT_EQ(dataset->index().part_names, std::vector<std::string>{"all"});
}

TEST(Idx, names_the_file_that_does_not_match_its_header) {
    const SmallSet good;
    for (std::size_t length = 0; length < good.images.size(); ++length) {
        SmallSet set;
        set.images.resize(length);
        set.write();
        EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte") << length;
        set.folder.write("train-images-idx3-ubyte", gzipped(set.images));
        EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte") << length;
    }
    SmallSet longer;
    longer.labels += "x";
    longer.write();
    EXPECT_EQ(longer.problem().file, "train-labels-idx1-ubyte");
}

TEST(Idx, refuses_a_truncated_or_damaged_gzip_file) {
    const SmallSet good;
    const std::string packed = gzipped(good.images);
    for (std::size_t length = 2; length < packed.size(); ++length) {
        SmallSet set;
        set.write();
        set.folder.write("train-images-idx3-ubyte", packed.substr(0, length));
        EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte") << length;
    }
    SmallSet set;
    set.write();
    set.folder.write("train-images-idx3-ubyte", with_flipped_byte(packed, packed.size() - 6));
    EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte");    // its checksum
}

TEST(Idx, a_header_that_promises_too_much_takes_no_memory) {
    SmallSet set;
    set.images = idx_file({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "abc");
    set.write();
    EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte");
    set.images = idx_file({7'000'000, 32, 32}, "abc");    // 7 GB, which would be allowed
    set.write();
    EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte");
}

TEST(Idx, refuses_what_is_not_idx_of_bytes) {
    const std::string float_type = idx_file({3, 2, 2}, std::string(48, 'x')).replace(2, 1, "\x0D");
    for (const std::string& file :
         {std::string("hello"), std::string(), float_type, idx_file({3, 0, 2}, ""),
          idx_file({1, 1, 1, 1}, "x"), idx_file({3}, "abc")}) {
        SmallSet set;
        set.images = file;
        set.write();
        EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte");
    }
}

TEST(Idx, counts_of_images_and_labels_must_match) {
    SmallSet set;
    set.labels = idx_file({2}, std::string("\0\1", 2));
    set.write();
    const DataProblem problem = set.problem();
    EXPECT_EQ(problem.file, "train-labels-idx1-ubyte");
    EXPECT_NE(problem.message.find("2 labels"), std::string::npos);
    EXPECT_NE(problem.message.find("3 images"), std::string::npos);
}

TEST(Idx, a_label_out_of_range_is_named_by_its_row) {
    SmallSet set;
    set.write();
    const DataProblem problem = set.problem({.class_names = {"cat", "dog"}});
    EXPECT_EQ(problem.file, "train-labels-idx1-ubyte");
    EXPECT_EQ(problem.row, 1);
    EXPECT_NE(problem.message.find("label 2"), std::string::npos);
}

TEST(Idx, labels_must_be_there_and_parts_alike) {
    SmallSet set;
    set.folder.write("train-images-idx3-ubyte", set.images);
    EXPECT_EQ(set.problem().file, "train-images-idx3-ubyte");
    set.write();
    set.images = idx_file({3, 1, 2}, "abcdef");
    set.write("zzz-");
    EXPECT_EQ(set.problem().file, "zzz-images-idx3-ubyte");

    TempFolder empty;
    data_problem_of([&] { open_dataset("idx", empty.path()); });
    EXPECT_EQ(error_code_of([&] { open_dataset("idx", empty.path() / "none"); }),
              ErrorCode::not_found);
    EXPECT_EQ(error_code_of([&] { open_dataset("cifar", empty.path()); }),
              ErrorCode::invalid_argument);
}

}    // namespace slipway
