// Goal: a dataset that is read from a shared copy is the one that its files give, to the bit, for
// every format that keeps samples in memory; another content or another wish is another copy.
// Method: small sets of each format, opened without a copy, by who makes one, and by who finds it.
#include "executor/data/shared/shared_dataset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>

#include "tests/executor/data/formats/make_npz.h"
#include "tests/executor/data/formats/make_records.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

struct Case {
    std::string format;
    std::map<std::string, std::string> files;
    DatasetOptions options = {};
};

std::string cifar_record(int label, int value) {
    return std::string(1, char(label)) + std::string(1024, char(value)) +
           std::string(2048, char(2 * value));
}

/// Columns near 0, and one of Unix times, whose rests are kept.
std::string times_table(int rows) {
    std::string text = "when,size,label,family\n";
    for (int row = 0; row < rows; ++row)
        text +=
            fmt::format("{},{},{},f{}\n", 1'700'000'000 + row, row * 0.25, "ab"[row % 2], row / 2);
    return text;
}

std::vector<Case> cases() {
    const std::string pixels("\0\1\2\3\4\5\6\7\10\11\12\13", 12);
    return {
        {"idx",
         {{"train-images-idx3-ubyte", idx_file({3, 2, 2}, pixels)},
          {"train-labels-idx1-ubyte.gz", gzipped(idx_file({3}, std::string("\0\2\1", 3)))},
          {"t10k-images-idx3-ubyte", idx_file({1, 2, 2}, pixels.substr(4, 4))},
          {"t10k-labels-idx1-ubyte", idx_file({1}, std::string("\1", 1))}}},
        {"idx",
         {{"train-images-idx3-ubyte", idx_file({3, 2, 2}, pixels)},
          {"train-labels-idx1-ubyte", idx_file({3}, std::string("\0\2\1", 3))}},
         {.class_names = {"x", "y", "z"},
          .image_size = 4,
          .channels = 3,
          .mean = {0.2, 0.3, 0.4},
          .deviation = {0.5F}}},
        {"csv",
         {{"train.csv", times_table(40)}, {"val.csv", times_table(7)}},
         {.group_column = "family"}},
        {"csv",
         {{"all.csv", times_table(9)}},
         {.label_columns = {"size"}, .group_column = "family", .feature_columns = {"when"}}},
        {"cifar10",
         {{"data_batch_1.bin", cifar_record(3, 10) + cifar_record(0, 20)},
          {"test_batch.bin", cifar_record(9, 100)}}},
        {"cifar10", {{"data_batch_1.bin", cifar_record(3, 10)}}, {.image_size = 8, .channels = 1}},
        {"tfrecord",
         {{"train.tfrecord", framed(example({{"x", floats({0.5F, -2})}, {"label", ints({4})}})) +
                                 framed(example({{"x", floats({7, 3})}, {"label", ints({2})}}))}}},
        {"npz",
         {{"points.npz",
           npz_file({{"X", npy_file("<f8", "(3, 2)",
                                    doubles({1.7e9 + 0.5, 2, 1.7e9 + 1, 4.5, 1.7e9 + 2, -1}))},
                     {"y", npy_file("<i8", "(3,)", integers({7, -1, 7}, 8))}})}}},
        {"npz",
         {{"train.npz", npz_file({{"images", npy_file("|u1", "(1, 2, 2, 3)", pixels)},
                                  {"labels", npy_file("<i8", "(1,)", integers({1}, 8))}})}},
         {.image_size = 4}},
    };
}

void expect_equal(const Dataset& found, const Dataset& wanted) {
    const DatasetIndex &a = found.index(), &b = wanted.index();
    EXPECT_EQ(a.feature_dims, b.feature_dims);
    EXPECT_EQ(a.class_names, b.class_names);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.target_names, b.target_names);
    EXPECT_EQ(a.targets, b.targets);
    EXPECT_EQ(a.group_column, b.group_column);
    EXPECT_EQ(a.group_names, b.group_names);
    EXPECT_EQ(a.groups, b.groups);
    EXPECT_EQ(a.part_names, b.part_names);
    EXPECT_EQ(a.parts, b.parts);
    EXPECT_EQ(a.feature_names, b.feature_names);
    EXPECT_EQ(found.files(), wanted.files());
    for (std::int64_t sample = 0; sample < b.sample_count(); ++sample) {
        EXPECT_EQ(features_of(found, sample), features_of(wanted, sample));
        std::vector<double> exact(std::size_t(b.feature_count())), other(exact);
        found.read_exact(sample, exact);
        wanted.read_exact(sample, other);
        EXPECT_EQ(exact, other);
        EXPECT_EQ(found.content(sample), wanted.content(sample));
        EXPECT_EQ(to_string(found.place(sample)), to_string(wanted.place(sample)));
        if (b.feature_dims.size() == 3)
            EXPECT_EQ(found.image(sample).pixels, wanted.image(sample).pixels);
    }
}

struct SharedSet {
    TempFolder folder;
    SharingOptions sharing{.folder = folder.path() / "copies",
                           .reader = "build 1",
                           .threads = 1,
                           .settled_after = std::chrono::seconds(0)};

    explicit SharedSet(const Case& one) {
        for (const auto& [name, bytes] : one.files)
            folder.write("set/" + name, bytes);
    }
    fs::path path() const { return folder.path() / "set"; }
    std::unique_ptr<Dataset> open(const Case& one, SharingOutcome& outcome) const {
        return open_shared_dataset(one.format, path(), one.options, sharing, outcome);
    }
    SharingOutcome outcome_of(const Case& one) const {
        SharingOutcome outcome;
        open(one, outcome);
        return outcome;
    }
};

}    // namespace

TEST(SharedDataset, a_copy_gives_what_the_files_give) {
    for (const Case& one : cases()) {
        const SharedSet set(one);
        SCOPED_TRACE(fmt::format("{}, {} files", one.format, one.files.size()));
        SharingOutcome making, finding;
        const auto wanted = open_dataset(one.format, set.path(), one.options);
        const auto made = set.open(one, making), found = set.open(one, finding);
        EXPECT_EQ(making.sharing, Sharing::made) << making.why_not;
        EXPECT_EQ(finding.sharing, Sharing::found) << finding.why_not;
        EXPECT_EQ(making.bytes, finding.bytes);
        expect_equal(*made, *wanted);
        expect_equal(*found, *wanted);
    }
}

TEST(SharedDataset, another_wish_is_another_copy_and_normalisation_is_not) {
    const Case plain = cases()[0];
    const SharedSet set(plain);
    EXPECT_EQ(set.outcome_of(plain).sharing, Sharing::made);
    Case larger = plain, normal = plain, named = plain;
    larger.options.image_size = 3;
    normal.options.mean = {0.5};
    named.options.class_names = {"a", "b", "c"};
    EXPECT_EQ(set.outcome_of(larger).sharing, Sharing::made);
    EXPECT_EQ(set.outcome_of(named).sharing, Sharing::made);
    EXPECT_EQ(set.outcome_of(normal).sharing, Sharing::found);
    SharedSet other(plain);
    other.sharing.folder = set.sharing.folder;
    EXPECT_EQ(other.outcome_of(plain).sharing, Sharing::made) << "files of another place";
    other.sharing.reader = "build 2";
    EXPECT_EQ(other.outcome_of(plain).sharing, Sharing::made) << "another build may read otherwise";
}

TEST(SharedDataset, changed_files_are_read_anew) {
    const Case one = cases()[2];
    const SharedSet set(one);
    SharingOutcome outcome;
    EXPECT_EQ(set.open(one, outcome)->size(), 47);
    const auto time = fs::last_write_time(set.path() / "val.csv");
    std::string text = one.files.at("val.csv");
    text.replace(text.find("1.5"), 3, "9.5");    // of the same size, in place
    set.folder.write("set/val.csv", text);
    fs::last_write_time(set.path() / "val.csv", time);
    const auto changed = set.open(one, outcome);
    EXPECT_EQ(outcome.sharing, Sharing::made);
    EXPECT_EQ(features_of(*changed, 46)[1], 9.5F);
    set.folder.write("set/more.csv", times_table(2));
    EXPECT_EQ(set.open(one, outcome)->size(), 49);
    EXPECT_EQ(outcome.sharing, Sharing::made);
}

TEST(SharedDataset, files_that_were_changed_a_moment_ago_are_not_shared) {
    const Case one = cases()[0];
    SharedSet set(one);
    set.sharing.settled_after = std::chrono::hours(1);
    SharingOutcome outcome;
    EXPECT_EQ(set.open(one, outcome)->size(), 4);
    EXPECT_EQ(outcome.sharing, Sharing::none);
    EXPECT_EQ(outcome.why_not, "its files were changed a moment ago");
    EXPECT_FALSE(fs::exists(set.sharing.folder));
}

TEST(SharedDataset, image_files_and_nothing_to_share_with_are_read_as_ever) {
    const Case images{"image_folder",
                      {{"a/1.jpg", jpeg_file(patterned_image(3, 4, 4))},
                       {"b/2.jpg", jpeg_file(patterned_image(3, 4, 4, 1))}}};
    const SharedSet photos(images);
    SharingOutcome outcome = photos.outcome_of(images);
    EXPECT_EQ(outcome.sharing, Sharing::none);
    EXPECT_EQ(outcome.why_not, "");
    // A record says what it is when it is read: the next ones know it from an empty copy.
    const Case records{
        "tfrecord",
        {{"a.tfrecord", framed(example({{"image", texts({jpeg_file(patterned_image(3, 4, 4))})},
                                        {"label", ints({4})}}))}}};
    const SharedSet shards(records);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(shards.open(records, outcome)->index().feature_dims, (Dims{3, 4, 4}));
        EXPECT_EQ(outcome.sharing, Sharing::none) << i;
        EXPECT_EQ(outcome.why_not, "");
    }
    const Case idx = cases()[0];
    SharedSet alone(idx);
    alone.sharing.folder.clear();
    EXPECT_EQ(alone.outcome_of(idx).sharing, Sharing::none);
}

TEST(SharedDataset, what_is_wrong_with_the_files_is_said_as_without_a_copy) {
    Case one = cases()[0];
    one.files["train-images-idx3-ubyte"].resize(20);
    const SharedSet set(one);
    SharingOutcome outcome;
    const DataProblem without = data_problem_of([&] { open_dataset("idx", set.path()); });
    for (int i = 0; i < 2; ++i) {
        const DataProblem with = data_problem_of([&] { set.open(one, outcome); });
        EXPECT_EQ(to_string(with), to_string(without));
    }
    EXPECT_TRUE(fs::is_empty(set.sharing.folder));
}

}    // namespace slipway
