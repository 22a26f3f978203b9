// Goal: archives of NumPy are read as NumPy and Python's own modules read them, whatever the type
// and the order of bytes, and what is wrong is named with file, array and row.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "executor/data/inspect.h"
#include "executor/data/preview.h"
#include "tests/executor/data/formats/independent_set.h"
#include "tests/executor/data/formats/make_npz.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

using Arrays = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<Dataset> open_arrays(const Arrays& arrays, const DatasetOptions& options = {}) {
    const TempFolder folder;
    folder.write("set/points.npz", npz_file(arrays));
    return open_dataset("npz", folder.path() / "set", options);
}

DataProblem problem_of(const Arrays& arrays, const DatasetOptions& options = {}) {
    return data_problem_of([&] { open_arrays(arrays, options); });
}

/// Two rows of two columns, and their labels.
std::string table() {
    return npy_file("<f8", "(2, 2)", doubles({1, 2, 3, 4.5}));
}
std::string labels() {
    return npy_file("<i8", "(2,)", integers({7, -1}, 8));
}

}    // namespace

TEST(Npz, ten_thousand_samples_as_python_reads_them) {
    const IndependentSet set("npz");
    ASSERT_TRUE(set.possible);
    ASSERT_EQ(set.lines.size(), 10'000U);
    expect_same(set, *open_dataset("npz", set.folder.path() / "set"), true);
}

TEST(Npz, every_type_of_number_as_numpy_reads_it) {
    const IndependentSet set("numpy");
    if (!set.possible) GTEST_SKIP() << "needs python3-numpy";
    expect_same(set, *open_dataset("npz", set.folder.path() / "set"), false);
}

TEST(Npz, a_table_has_its_numbers_classes_part_and_places) {
    const auto dataset = open_arrays({{"X", table()}, {"y", labels()}});
    EXPECT_EQ(dataset->index().feature_dims, (Dims{2}));
    EXPECT_EQ(features_of(*dataset, 1), (std::vector<float>{3, 4.5}));
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"-1", "7"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{1, 0}));
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"points"}));
    EXPECT_EQ(to_string(dataset->place(1)), "points.npz, row 2, field X: ");
}

TEST(Npz, parts_are_before_or_behind_the_word_and_in_their_usual_order) {
    const auto dataset = open_arrays({{"test_images", table()},
                                      {"test_labels", labels()},
                                      {"y_train", labels()},
                                      {"x_train", table()}});
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "test"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 1, 1}));
    EXPECT_EQ(dataset->place(2).field, "test_images");
}

TEST(Npz, files_of_a_folder_are_parts_and_one_alone_needs_no_name) {
    const TempFolder folder;
    const auto file =
        folder.write("one/upload", npz_file({{"x", table()}, {"y", labels()}}, false));
    EXPECT_EQ(open_dataset("npz", file)->size(), 2);
    EXPECT_EQ(open_dataset("npz", file.parent_path())->size(), 2);
    for (const char* name : {"two/val-0.npz", "two/train-0.npz", "two/train-1.npz"})
        folder.write(name, npz_file({{"x", table()}, {"y", labels()}}));
    const auto dataset = open_dataset("npz", folder.path() / "two");
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "val"}));
    EXPECT_EQ(dataset->size(), 6);
    EXPECT_EQ(dataset->files().size(), 3U);
    EXPECT_EQ(dataset->place(3).file, "train-1.npz");
}

TEST(Npz, images_are_planes_whatever_the_order_of_their_depth) {
    const auto image_label = npy_file("|u1", "(1, 1)", std::string(1, '\2'));
    const std::string interleaved = {0, 51, 102, 3, 4, 5};    // two pixels of RGB
    const auto last =
        open_arrays({{"x", npy_file("|u1", "(1, 1, 2, 3)", interleaved)}, {"y", image_label}});
    EXPECT_EQ(last->index().feature_dims, (Dims{3, 1, 2}));
    EXPECT_EQ(features_of(*last, 0)[2], 51.0F / 255.0F);
    EXPECT_EQ(features_of(*last, 0)[1], 3.0F / 255.0F);
    EXPECT_EQ(last->image(0).pixels[1], 51);
    const auto first =
        open_arrays({{"x", npy_file("|u1", "(1, 3, 1, 2)", interleaved)}, {"y", image_label}});
    EXPECT_EQ(first->index().feature_dims, (Dims{3, 1, 2}));
    EXPECT_EQ(features_of(*first, 0)[1], 51.0F / 255.0F);
    EXPECT_EQ(first->image(0).pixels[3], 51);
    // Both would fit: the last dimension is the depth.
    const auto both =
        open_arrays({{"x", npy_file("|u1", "(1, 3, 2, 1)", interleaved)}, {"y", image_label}});
    EXPECT_EQ(both->index().feature_dims, (Dims{1, 3, 2}));
}

TEST(Npz, images_of_bytes_are_brought_to_another_size_and_depth) {
    const auto one = npy_file("<i4", "(1,)", integers({1}, 4));
    const auto gray = npy_file("|u1", "(1, 4, 4)", std::string(16, '\x33'));
    const auto dataset = open_arrays({{"x", gray}, {"y", one}}, {.image_size = 2, .channels = 3});
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 2, 2}));
    for (const float feature : features_of(*dataset, 0))
        EXPECT_EQ(feature, 51.0F / 255.0F);
    const Arrays floats = {{"x", npy_file("<f8", "(1, 1, 2)", doubles({0.5, 1}))}, {"y", one}};
    EXPECT_EQ(error_code_of([&] { open_arrays(floats, {.image_size = 2}); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(error_code_of([&] {
                  open_arrays({{"x", table()}, {"y", labels()}}, {.image_size = 2});
              }),
              ErrorCode::invalid_argument);
}

TEST(Npz, images_of_numbers_are_as_written_and_shown_where_they_are_from_0_to_1) {
    const auto one = npy_file("<i4", "(1,)", integers({1}, 4));
    const auto fine =
        open_arrays({{"x", npy_file("<f8", "(1, 1, 2)", doubles({0.2, 1}))}, {"y", one}});
    EXPECT_EQ(features_of(*fine, 0), (std::vector<float>{0.2F, 1}));
    EXPECT_EQ(fine->image(0).pixels, (std::vector<std::uint8_t>{51, 255}));
    const auto large =
        open_arrays({{"x", npy_file("<f8", "(1, 1, 2)", doubles({0.2, 255}))}, {"y", one}});
    EXPECT_EQ(features_of(*large, 0)[1], 255);
    EXPECT_TRUE(says(data_problem_of([&] { large->image(0); }), "save the images as uint8"));
}

TEST(Npz, labels_are_classes_of_text_and_names_of_class_names) {
    const std::string wide("d\0\0\0o\0\0\0g\0\0\0\0\0\0\0\xe9\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
    const auto text = open_arrays({{"x", table()}, {"y", npy_file("<U4", "(2,)", wide)}});
    EXPECT_EQ(text->index().class_names, (std::vector<std::string>{"dog", "é"}));
    const auto bytes =
        open_arrays({{"x", table()}, {"y", npy_file("|S3", "(2,)", std::string("dogb\0\0", 6))}});
    EXPECT_EQ(bytes->index().class_names, (std::vector<std::string>{"b", "dog"}));
    const Arrays numbered = {{"x", table()},
                             {"y", npy_file("|u1", "(2,)", std::string("\1\0", 2))}};
    const auto named = open_arrays(numbered, {.class_names = {"cat", "dog"}});
    EXPECT_EQ(named->index().labels, (std::vector<std::int32_t>{1, 0}));
    EXPECT_EQ(named->index().class_names, (std::vector<std::string>{"cat", "dog"}));
    const DataProblem bad =
        problem_of({{"x", table()}, {"y", labels()}}, {.class_names = {"cat", "dog"}});
    EXPECT_EQ(bad.row, 1);
    EXPECT_TRUE(says(bad, "\"7\" is neither in class_names"));
}

TEST(Npz, labels_are_numbers_where_they_are_floats_several_or_named) {
    const auto floats =
        open_arrays({{"x", table()}, {"y", npy_file("<f8", "(2,)", doubles({0.5, -1}))}});
    EXPECT_EQ(floats->index().target_names, (std::vector<std::string>{"y"}));
    EXPECT_EQ(floats->index().targets, (std::vector<float>{0.5F, -1}));
    const auto several = npy_file("|u1", "(2, 2)", std::string("\0\1\1\0", 4));
    const auto plain = open_arrays({{"train_images", table()}, {"train_labels", several}});
    EXPECT_EQ(plain->index().target_names, (std::vector<std::string>{"labels[0]", "labels[1]"}));
    const auto named = open_arrays({{"x", table()}, {"y", several}}, {.label_columns = {"a", "b"}});
    EXPECT_EQ(named->index().target_names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(named->targets(1)[0], 1);
    EXPECT_TRUE(
        says(problem_of({{"x", table()}, {"y", several}}, {.label_columns = {"a", "b", "c"}}),
             "3 names, and each sample has 2 labels"));
    const auto text = npy_file("|S1", "(2,)", "ab");
    EXPECT_TRUE(says(problem_of({{"x", table()}, {"y", text}}, {.label_columns = {"a"}}), "text"));
    DatasetOptions shares{.label_columns = {"a"}};
    shares.labels_are_shares = true;
    EXPECT_EQ(problem_of({{"x", table()}, {"y", labels()}}, shares).row, 1);
}

TEST(Npz, names_that_make_no_pairs_are_listed_with_those_that_are_understood) {
    const std::vector<std::vector<std::string>> bad = {{"x_train", "y_train", "extra"},
                                                       {"x"},
                                                       {"y_val"},
                                                       {"x_train", "images_train", "y_train"},
                                                       {"x_data", "y_data"},
                                                       {"train"},
                                                       {"x_train", "y_test"},
                                                       {"x", "x", "y"}};
    for (const auto& names : bad) {
        Arrays arrays;
        for (const std::string& name : names)
            arrays.emplace_back(name, table());
        const DataProblem problem = problem_of(arrays);
        EXPECT_EQ(problem.file, "points.npz");
        EXPECT_TRUE(says(problem, "The file has the arrays")) << problem.message;
        EXPECT_TRUE(says(problem, "Features are called x, X, images, data, features and labels y"));
        for (const std::string& name : names)
            EXPECT_TRUE(says(problem, "\"" + name + "\"")) << problem.message;
    }
}

TEST(Npz, what_an_array_holds_is_refused_with_file_and_array) {
    const std::vector<std::pair<std::string, std::string>> bad = {
        {npy_file("|O", "(2, 2)", "\x80\x04."), "pickle"},
        {npy_file("<c8", "(2, 2)", std::string(32, '\0')), "\"<c8\", which is not read"},
        {npy_file("<f4", "(2, 2)", std::string(15, '\0')), "16 bytes (2 x 2) and there are 15"},
        {npy_file("<f4", "(2, 2)", std::string(17, '\0')), "goes on after the 4 items"},
        {npy_file("<f8", "(2, 99999999999)", "x"), "and at most"},
        {npy_file("<f8", "(9223372036854775807, 9)", "x"), "63 bits"},
        {npy_file("<f8", "(2, 0)", ""), "a dimension of size 0"},
        {npy_file("<f8", "(2, -4)", ""), "a dimension of size -4"},
        {npy_file("<f8", "(2,)", doubles({1, 2})), "its shape is [2]"},
        {npy_file("<f8", "(1, 2, 2, 2)", doubles({1, 2, 3, 4, 5, 6, 7, 8})), "its shape is"},
        {npy_file("<f8", "(3, 1)", doubles({1, 2, 3})), ""},    // 2 labels, which are named
        {npy_file("<U1", "(2, 2)", std::string(16, '\0')), "features are numbers"},
        {"\x93NUMPY\x09", "does not begin like a NumPy array"},
        {std::string("\x93NUMPY\x09\0\0\0", 10), "version 9"},
        {std::string("\x93NUMPY\x02\0\xff\xff\xff\x3f{", 13), "1073741823 bytes, more than"},
        {"", "does not begin like a NumPy array"}};
    for (const auto& [content, words] : bad) {
        const DataProblem problem = problem_of({{"x", content}, {"y", labels()}});
        EXPECT_EQ(problem.file, "points.npz");
        EXPECT_EQ(problem.field, words.empty() ? "y" : "x");
        EXPECT_TRUE(says(problem, words)) << words << "\n" << problem.message;
    }
    std::string fortran = table();
    fortran.replace(fortran.find("False, "), 7, "True,  ");
    EXPECT_TRUE(says(problem_of({{"x", fortran}, {"y", labels()}}), "ascontiguousarray"));
}

TEST(Npz, numbers_that_are_none_are_named_with_their_row) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {nan, -std::numeric_limits<double>::infinity(), 1e300}) {
        const auto x = npy_file("<f8", "(2, 2)", doubles({1, 2, 3, bad}));
        const DataProblem problem = problem_of({{"x", x}, {"y", labels()}});
        EXPECT_EQ(to_string(problem).find("points.npz, row 2, field x: 1 of its 4 numbers"), 0U)
            << to_string(problem);
        const auto y = npy_file("<f8", "(2,)", doubles({1, bad}));
        EXPECT_EQ(problem_of({{"x", table()}, {"y", y}}).row, 2);
    }
    const DataProblem empty =
        problem_of({{"x", table()}, {"y", npy_file("|S1", "(2,)", std::string("a\0", 2))}});
    EXPECT_EQ(empty.row, 2);
    const auto latin = npy_file("|S1", "(2,)", "a\xe9");
    EXPECT_TRUE(says(problem_of({{"x", table()}, {"y", latin}}), "UTF-8"));
}

TEST(Npz, parts_that_do_not_agree_are_refused) {
    const auto other = npy_file("<f8", "(2, 1)", doubles({1, 2}));
    EXPECT_EQ(
        problem_of(
            {{"x_train", table()}, {"y_train", labels()}, {"x_val", other}, {"y_val", labels()}})
            .field,
        "x_val");
    const auto floats = npy_file("<f8", "(2,)", doubles({1, 2}));
    EXPECT_EQ(
        problem_of(
            {{"x_train", table()}, {"y_train", labels()}, {"x_val", table()}, {"y_val", floats}})
            .field,
        "y_val");
    const auto bytes = npy_file("|u1", "(2, 1, 1)", "ab"),
               numbers = npy_file("<i2", "(2, 1, 1)", "abcd");
    EXPECT_TRUE(says(
        problem_of(
            {{"x_train", bytes}, {"y_train", labels()}, {"x_val", numbers}, {"y_val", labels()}}),
        "scaled"));
}

TEST(Npz, a_damaged_archive_and_one_of_very_many_members_are_named) {
    const TempFolder folder;
    const std::string good = npz_file({{"x", table()}, {"y", labels()}}, false);
    const std::string flipped = with_flipped_byte(good, good.find("NUMPY") + 140);
    for (const std::string& bad : {flipped, good.substr(0, good.size() / 2), std::string("PK\5\6"),
                                   std::string(), std::string("text, no archive")}) {
        folder.write("points.npz", bad);
        EXPECT_EQ(data_problem_of([&] { open_dataset("npz", folder.path()); }).file, "points.npz");
    }
    Arrays many;
    for (int i = 0; i < 1001; ++i)
        many.emplace_back("x" + std::to_string(i), "");
    EXPECT_TRUE(says(problem_of(many), "more than 1000 arrays"));
    const auto zeros = npy_file("|u1", "(2, 7000, 5000)", std::string(70'000'000, '\0'));
    EXPECT_TRUE(says(problem_of({{"x", zeros}, {"y", labels()}}), "times the size"));
}

TEST(Npz, numbers_close_together_and_far_from_0_keep_what_a_float_rounds) {
    const auto times = npy_file("<i8", "(2, 1)", integers({1'700'000'001, 1'700'000'002}, 8));
    const auto dataset = open_arrays({{"x", times}, {"y", labels()}});
    std::vector<double> exact(1);
    dataset->read_exact(1, exact);
    EXPECT_EQ(exact[0], 1'700'000'002);
    EXPECT_NE(dataset->content(0), dataset->content(1));
}

TEST(Npz, an_inspection_lists_every_problem_and_a_preview_shows_samples) {
    const TempFolder folder;
    const auto x = npy_file("<f8", "(2, 2)", doubles({1, 2, 3, NAN}));
    folder.write("bad/a.npz",
                 npz_file({{"x", x}, {"y", npy_file("|S1", "(2,)", std::string(2, '\0'))}}));
    EXPECT_EQ(inspect_dataset("npz", folder.path() / "bad", {}, 1)["problem_count"], 3);
    folder.write("good/a.npz", npz_file({{"x", table()}, {"y", labels()}}));
    const auto report = inspect_dataset("npz", folder.path() / "good", {}, 1);
    EXPECT_EQ(report["problem_count"], 0) << report.dump();
    EXPECT_EQ(report["feature_shape"], nlohmann::json({2}));
    EXPECT_EQ(preview_dataset("npz", folder.path() / "good", {})["items"][0]["class"], "7");
}

TEST(Npz, options_of_named_columns_are_refused) {
    EXPECT_EQ(error_code_of([&] {
                  open_arrays({{"x", table()}, {"y", labels()}}, {.feature_columns = {"a"}});
              }),
              ErrorCode::invalid_argument);
}

}    // namespace slipway
