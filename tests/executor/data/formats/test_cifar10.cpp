// Goal: CIFAR-10's binary batches are read as an independent reader reads them, and a bad file is
// named with its record and byte.
#include <gtest/gtest.h>

#include "executor/data/dataset.h"
#include "tests/executor/data/formats/independent_set.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

constexpr std::size_t record_bytes = 3073;

/// A record whose planes are R: `value`, G: twice that, B: 0.
std::string record(int label, int value) {
    return std::string(1, char(label)) + std::string(1024, char(value)) +
           std::string(1024, char(2 * value)) + std::string(1024, '\0');
}

struct SmallSet {
    TempFolder folder;
    std::string batch = record(3, 10) + record(0, 20) + record(9, 51);

    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        folder.write("data_batch_1.bin", batch);
        folder.write("test_batch.bin", record(1, 100));
        return open_dataset("cifar10", folder.path(), options);
    }
    DataProblem problem(const DatasetOptions& options = {}) const {
        return data_problem_of([&] { open(options); });
    }
};

}    // namespace

TEST(Cifar10, ten_thousand_records_as_python_reads_them) {
    const IndependentSet set("cifar10");
    ASSERT_TRUE(set.possible);
    ASSERT_EQ(set.lines.size(), 10'000U);
    const auto dataset = open_dataset("cifar10", set.folder.path() / "set");
    EXPECT_EQ(dataset->files().size(), 4U);    // the names are one
    expect_same(set, *dataset, true);
}

TEST(Cifar10, has_planes_parts_and_places) {
    const SmallSet set;
    const auto dataset = set.open();
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 32, 32}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{3, 0, 9, 1}));
    EXPECT_EQ(dataset->index().class_names.back(), "9");
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "test"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 0, 1}));
    EXPECT_EQ(dataset->place(2).row, 3);
    EXPECT_EQ(dataset->place(3).file, "test_batch.bin");
    const std::vector<float> features = features_of(*dataset, 2);
    EXPECT_EQ(features[0], 51.0F / 255.0F);
    EXPECT_EQ(features[1024], 102.0F / 255.0F);
    EXPECT_EQ(features[3071], 0);
    const auto normal = set.open({.mean = {0.2F}, .deviation = {0.5F}});
    EXPECT_NEAR(features_of(*normal, 2)[1024], (0.4 - 0.2) / 0.5,
                1e-6);    // one rounding of each step
}

TEST(Cifar10, is_brought_to_another_size_and_to_gray) {
    const auto dataset = SmallSet().open({.image_size = 8, .channels = 1});
    EXPECT_EQ(dataset->index().feature_dims, (Dims{1, 8, 8}));
    const std::vector<float> features = features_of(*dataset, 2);
    EXPECT_EQ(features.size(), 64U);
    // 0.299 * 51 + 0.587 * 102 = 75.1 in every pixel; an even image stays even when it shrinks.
    for (const float feature : features)
        EXPECT_EQ(feature, 75.0F / 255.0F);
}

TEST(Cifar10, one_file_is_a_set_whatever_its_name) {
    const TempFolder folder;
    const auto file = folder.write("set/upload", gzipped(record(7, 1)));
    EXPECT_EQ(open_dataset("cifar10", file)->label(0), 7);
    EXPECT_EQ(open_dataset("cifar10", file.parent_path())->size(), 1);
}

TEST(Cifar10, every_length_but_whole_records_is_named_with_record_and_byte) {
    for (const std::size_t length : {std::size_t{1}, record_bytes - 1, record_bytes + 1,
                                     2 * record_bytes - 1, 3 * record_bytes - 1}) {
        SmallSet set;
        set.batch.resize(length);
        const DataProblem problem = set.problem();
        const std::size_t whole = length / record_bytes;
        EXPECT_EQ(problem.file, "data_batch_1.bin") << length;
        EXPECT_EQ(problem.row, std::int64_t(whole + 1)) << length;
        EXPECT_NE(problem.message.find("at byte " + std::to_string(whole * record_bytes)),
                  std::string::npos)
            << problem.message;
    }
    SmallSet empty;
    empty.batch = "";
    EXPECT_EQ(empty.problem().message, "the file is empty");
    SmallSet fine_labels;
    fine_labels.batch = std::string(3074 * 2, '\1');
    EXPECT_NE(fine_labels.problem().message.find("CIFAR-100"), std::string::npos);
}

TEST(Cifar10, a_label_out_of_range_is_named_with_record_and_byte) {
    SmallSet set;
    set.batch += record(10, 1);
    const DataProblem problem = set.problem();
    EXPECT_EQ(problem.file, "data_batch_1.bin");
    EXPECT_EQ(problem.row, 4);
    EXPECT_NE(problem.message.find("label 10 at byte 9219"), std::string::npos) << problem.message;
    const DataProblem fewer = SmallSet().problem({.class_names = {"cat", "dog"}});
    EXPECT_EQ(fewer.row, 1);
    EXPECT_NE(fewer.message.find("label 3"), std::string::npos) << fewer.message;
}

TEST(Cifar10, a_byte_order_mark_is_not_part_of_the_first_name) {
    const SmallSet set;
    std::string names = "\xEF\xBB\xBF";
    for (int i = 0; i < 10; ++i)
        names += "class " + std::to_string(i) + "\n";
    set.folder.write("batches.meta.txt", names);
    EXPECT_EQ(set.open()->index().class_names[0], "class 0");
}

TEST(Cifar10, a_damaged_gzip_file_is_named) {
    SmallSet set;
    set.batch = gzipped(set.batch);
    EXPECT_EQ(set.open()->size(), 4);
    set.batch = with_flipped_byte(set.batch, set.batch.size() - 6);    // its checksum
    EXPECT_EQ(set.problem().file, "data_batch_1.bin");
    set.batch.resize(set.batch.size() / 2);
    EXPECT_EQ(set.problem().file, "data_batch_1.bin");
}

TEST(Cifar10, names_that_are_no_names_are_refused) {
    for (const char* names : {"", "\n\n", "cat\ncat\n", "caf\xE9\n"}) {
        const SmallSet set;
        set.folder.write("batches.meta.txt", names);
        EXPECT_EQ(set.problem().file, "batches.meta.txt");
        EXPECT_EQ(
            set.open({.class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})->size(),
            4);
    }
    const SmallSet few;
    few.folder.write("batches.meta.txt", "cat\r\ndog\r\nbird");
    EXPECT_NE(few.problem().message.find("3 classes"), std::string::npos);
}

TEST(Cifar10, the_python_version_is_refused_in_words) {
    const TempFolder folder;
    folder.write("data_batch_1", "pickle");
    folder.write("data_batch_2", "pickle");
    EXPECT_NE(data_problem_of([&] {
                  open_dataset("cifar10", folder.path());
              }).message.find("Python version"),
              std::string::npos);
}

}    // namespace slipway
