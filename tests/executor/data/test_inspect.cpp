#include "executor/data/inspect.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "executor/data/moments.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

/// Two classes of one image.
struct TwoImages {
    TempFolder folder;
    explicit TwoImages(std::int64_t second_height = 4) {
        folder.write("a/1.png", png_file(patterned_image(1, 4, 4, 1)));
        folder.write("b/2.png", png_file(patterned_image(1, second_height, 4, 2)));
    }
    Json inspect(const DatasetOptions& options = {}) const {
        return inspect_dataset("image_folder", folder.path(), options);
    }
};

}    // namespace

TEST(Inspect, reports_counts_shape_moments_and_hash) {
    TempFolder folder;
    folder.write("t.csv", "x,y,label,who\n1,10,a,p\n2,10,b,p\n3,10,a,q\n");
    const Json report = inspect_dataset("csv", folder.path(), {.group_column = "who"});
    EXPECT_EQ(report["samples"], 3);
    EXPECT_EQ(report["classes"], Json::parse(R"([{"name":"a","count":2},{"name":"b","count":1}])"));
    EXPECT_EQ(report["groups"], Json::parse(R"([{"name":"p","count":2},{"name":"q","count":1}])"));
    EXPECT_EQ(report["group_count"], 2);
    EXPECT_EQ(report["columns"], Json::parse(R"(["x","y","label","who"])"));
    EXPECT_EQ(report["column_count"], 4);
    EXPECT_EQ(report["feature_shape"], Json({2}));
    EXPECT_EQ(report["mean"], Json({2.0, 10.0}));
    EXPECT_NEAR(report["std"][0].get<double>(), std::sqrt(2.0 / 3), 1e-6);
    EXPECT_EQ(report["std"][1], 1.0);    // a column that never varies
    EXPECT_EQ(report["problem_count"], 0);
    EXPECT_EQ(report["bytes"], 41);
    EXPECT_TRUE(report["content_hash"].get<std::string>().starts_with("sha256:"));
}

TEST(Inspect, the_same_whatever_the_threads) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const auto one = inspect_dataset("idx", test_data_folder() / "mnist10k", {}, 1);
    EXPECT_EQ(one, inspect_dataset("idx", test_data_folder() / "mnist10k", {}, 3));
    EXPECT_EQ(one["samples"], 10'000);
    EXPECT_EQ(one["feature_shape"], Json({1, 28, 28}));
}

TEST(Inspect, the_hash_covers_names_and_contents) {
    const TwoImages one, same, renamed, changed;
    std::filesystem::rename(renamed.folder.path() / "b/2.png", renamed.folder.path() / "b/3.png");
    changed.folder.write("b/2.png", png_file(patterned_image(1, 4, 4, 3)));
    const auto hash = [](const TwoImages& set) { return set.inspect()["content_hash"]; };
    EXPECT_EQ(hash(one), hash(same));
    EXPECT_NE(hash(one), hash(renamed));
    EXPECT_NE(hash(one), hash(changed));
}

TEST(Inspect, the_options_moments_are_not_applied) {
    const TwoImages set;
    EXPECT_EQ(set.inspect({.mean = {9}, .deviation = {3}}), set.inspect());
}

TEST(Inspect, damaged_images_are_counted_apart_when_jobs_tolerate_them) {
    const TwoImages set;
    set.folder.write("b/3.png", "\x89PNG, but no more");
    const Json strict = set.inspect();
    EXPECT_EQ(strict["problem_count"], 1);
    EXPECT_TRUE(strict["damaged"].is_null());
    for (const TruncatedImages policy : {TruncatedImages::skip, TruncatedImages::accept}) {
        const Json report = set.inspect({.truncated_images = policy});
        EXPECT_EQ(report["problem_count"], 0);
        EXPECT_EQ(report["damaged"]["count"], 1);
        EXPECT_EQ(report["damaged"]["images"], strict["problems"]);
        EXPECT_EQ(report["mean"], TwoImages().inspect()["mean"]);
    }
}

TEST(Inspect, images_of_several_sizes_are_no_problem_and_have_no_shape) {
    const TwoImages set(6);
    const Json report = set.inspect();
    EXPECT_EQ(report["problem_count"], 0);
    EXPECT_TRUE(report["feature_shape"].is_null());
    EXPECT_EQ(report["image_sizes"], Json::parse(R"({"min":[4,4],"max":[6,4]})"));
    EXPECT_EQ(set.inspect({.image_size = 8})["feature_shape"], Json({1, 8, 8}));
}

TEST(Inspect, what_cannot_be_opened_is_a_report_too) {
    TempFolder folder;
    for (const std::string_view format : dataset_formats()) {
        const Json report = inspect_dataset(format, folder.path());
        EXPECT_EQ(report["samples"], 0) << format;
        EXPECT_GE(report["problem_count"], 1) << format;
        EXPECT_FALSE(report["problems"][0]["message"].get<std::string>().empty()) << format;
    }
    EXPECT_EQ(error_code_of([&] { inspect_dataset("csv", folder.path() / "none"); }),
              ErrorCode::not_found);
}

TEST(Inspect, every_broken_image_is_listed_once) {
    const TwoImages set;
    for (int i = 0; i < 30; ++i)
        set.folder.write("a/0" + std::to_string(i) + ".png", "broken");
    const Json report = set.inspect();
    EXPECT_EQ(report["problem_count"], 30);
    EXPECT_EQ(report["problems"].size(), 20U);
    TempFolder hopeless;
    hopeless.write("a/1.jpg", "broken");
    EXPECT_EQ(inspect_dataset("image_folder", hopeless.path())["problem_count"], 1);
}

TEST(Moments, survive_a_mean_far_from_zero) {
    RunningMoments running;
    for (const float value : {1e6F - 1, 1e6F, 1e6F + 1}) {
        running.add(RunningMoments::of(std::span(&value, 1), 1), 1);
    }
    EXPECT_EQ(running.result().mean[0], 1e6F);
    EXPECT_NEAR(running.result().deviation[0], std::sqrt(2.0 / 3), 1e-6);
}

// Unix times ten seconds apart: a float of them has steps of 128 seconds.
TEST(Moments, numbers_far_from_0_are_normalised_in_double_and_others_as_ever) {
    constexpr int rows = 64;
    std::string text = "time,ordinary,label\n", last = "time,ordinary,label\n";
    std::vector<float> ordinary;
    for (int row = 0; row < rows; ++row) {
        const float value = 0.1F * float(row * row % 7) + 20;
        ordinary.push_back(value);
        const std::string line = fmt::format("{},{},a\n", 1'700'000'000 + 10 * row, value);
        text += line;
        if (row == rows - 1) last += line;
    }
    TempFolder whole, alone;
    whole.write("t.csv", text);
    alone.write("t.csv", last);
    const auto table = open_dataset("csv", whole.path());
    std::vector<std::int64_t> all(rows);
    std::iota(all.begin(), all.end(), 0);
    const Moments moments = measure(*table, all, 2);
    EXPECT_DOUBLE_EQ(moments.mean[0], 1'700'000'315);
    EXPECT_NEAR(moments.deviation[0], 10 * std::sqrt((rows * rows - 1) / 12.0), 1e-4);
    const auto scaled = normalized(*table, moments);
    for (int row = 0; row < rows; ++row) {
        const std::vector<float> found = features_of(*scaled, row);
        EXPECT_NEAR(found[0], (10 * row - 315) / double(moments.deviation[0]), 1e-6);
        EXPECT_EQ(found[1], (ordinary[std::size_t(row)] - float(moments.mean[1])) *
                                (1 / moments.deviation[1]));
    }
    EXPECT_NE(table->content(0), table->content(1)) << "samples are told apart, too";

    // As a prediction reads its rows: by the moments of the training part, whatever is beside them.
    const auto predicted = open_dataset("csv", alone.path());
    EXPECT_EQ(features_of(*normalized(*predicted, moments), 0), features_of(*scaled, rows - 1));
}

TEST(Moments, standardise_a_set_to_mean_0_and_deviation_1) {
    const CountingDataset raw(101, 3);
    std::vector<std::int64_t> all(101);
    std::iota(all.begin(), all.end(), 0);
    const auto dataset = normalized(raw, measure(raw, all, 2));
    const Moments moments = measure(*dataset, all, 2);
    for (const float mean : moments.mean)
        EXPECT_NEAR(mean, 0, 1e-6);
    for (const float deviation : moments.deviation)
        EXPECT_NEAR(deviation, 1, 1e-6);
}

// 300 labels of 1 MB made a report of 332 MB.
TEST(Inspect, names_longer_than_a_name_are_problems_and_not_repeated) {
    const std::string text(1 << 20, 'a');
    TempFolder labels, groups, columns;
    labels.write("t.csv", "x,label\n1," + text.substr(1) + "\n2,b\n3,c\n");
    groups.write("t.csv", "x,label,who\n1,a," + text.substr(1) + "\n2,b,p\n");
    columns.write("t.csv", "x,label," + text.substr(1) + "\n1,a,2\n");
    for (const auto& [folder, group] :
         {std::pair(&labels, ""), std::pair(&groups, "who"), std::pair(&columns, "")}) {
        const Json report = inspect_dataset("csv", folder->path(), {.group_column = group});
        ASSERT_EQ(report["problem_count"], 1);
        EXPECT_EQ(report["problems"][0]["file"], "t.csv");
        EXPECT_LT(report.dump().size(), 2000U);
    }
}

TEST(Inspect, lists_of_names_and_columns_are_cut_off_and_counted) {
    constexpr int names = 1500, columns = 20'000;
    std::string classes = "x,label,who\n", wide = "label", row = "a";
    for (int i = 0; i < names; ++i)
        classes += "1,class" + std::to_string(i) + ",group" + std::to_string(i) + "\n";
    for (int i = 0; i < columns; ++i) {
        wide += ",c" + std::to_string(i);
        row += ",1";
    }
    TempFolder many, columns_folder;
    many.write("t.csv", classes);
    columns_folder.write("t.csv", wide + "\n" + row + "\n" + "b" + row.substr(1) + "\n");
    const Json report = inspect_dataset("csv", many.path(), {.group_column = "who"});
    EXPECT_EQ(report["problem_count"], 0);
    EXPECT_EQ(report["class_count"], names);
    EXPECT_EQ(report["classes"].size(), 1000U);
    EXPECT_EQ(report["group_count"], names);
    EXPECT_EQ(report["groups"].size(), 1000U);
    const Json other = inspect_dataset("csv", columns_folder.path());
    EXPECT_EQ(other["problem_count"], 0);
    EXPECT_EQ(other["feature_shape"], Json({columns}));
    EXPECT_EQ(other["columns"].size(), 1000U);
    EXPECT_EQ(other["column_count"], columns + 1);
    EXPECT_EQ(other["mean"], Json());
    EXPECT_EQ(other["std"], Json());
}

TEST(Inspect, texts_of_a_problem_are_cut_at_a_character) {
    const DataProblem cut = shortened(
        {.file = std::string(5000, 'f'), .field = "x", .message = std::string(3999, 'm') + "éé"});
    EXPECT_EQ(cut.file.size(), 4096 + 3U);
    EXPECT_EQ(cut.field, "x");
    EXPECT_EQ(cut.message, std::string(3999, 'm') + "…");
}

// 1.1 kB of a zip of a gzipped idx file took 603 MiB.
TEST(Inspect, a_gzip_file_that_inflates_to_hundreds_of_times_its_size_is_refused) {
    TempFolder folder;
    constexpr std::uint32_t side = 8500;    // squared: a little more than 64 MiB
    folder.write("images-idx3-ubyte.gz",
                 gzipped(idx_file({1, side, side}, std::string(std::size_t(side) * side, '\0'))));
    folder.write("labels-idx1-ubyte.gz", gzipped(idx_file({1}, std::string(1, '\0'))));
    const Json report = inspect_dataset("idx", folder.path());
    ASSERT_EQ(report["problem_count"], 1);
    EXPECT_EQ(report["problems"][0]["file"], "images-idx3-ubyte.gz");
    EXPECT_NE(report["problems"][0]["message"].get<std::string>().find("100 times its size"),
              std::string::npos);
}

TEST(Inspect, what_will_surprise_is_a_warning) {
    TempFolder one_class, two_classes;
    one_class.write("photos/cat/1.png", png_file(patterned_image(1, 4, 4, 1)));
    one_class.write("photos/dog/2.png", png_file(patterned_image(1, 4, 4, 2)));
    two_classes.write("t.csv", "x,label\n1,a\n2,b\n");
    const Json report = inspect_dataset("image_folder", one_class.path());
    EXPECT_EQ(report["problem_count"], 0);
    ASSERT_EQ(report["warnings"].size(), 1U);
    const auto message = report["warnings"][0]["message"].get<std::string>();
    EXPECT_NE(message.find("\"photos\""), std::string::npos) << message;
    EXPECT_NE(message.find("one level of folders"), std::string::npos) << message;
    EXPECT_EQ(inspect_dataset("csv", two_classes.path())["warnings"], Json::array());

    const Json mixed = TwoImages(6).inspect();
    ASSERT_EQ(mixed["warnings"].size(), 1U);
    EXPECT_NE(mixed["warnings"][0]["message"].get<std::string>().find("4 x 4 to 4 x 6"),
              std::string::npos);
    EXPECT_EQ(TwoImages(6).inspect({.image_size = 4})["warnings"], Json::array());
}

}    // namespace slipway
