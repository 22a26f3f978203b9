#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/split/certificate.h"
#include "executor/data/split/make.h"
#include "executor/data/split/manifest.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

/// 24 rows, 2 classes, 6 people; rows 0 and 23 have the same features.
struct Table {
    TempFolder folder;

    Table() {
        std::string text = "x,label,who\n";
        for (int i = 0; i < 24; ++i)
            text += std::to_string(i % 23) + (i % 2 == 0 ? ",a," : ",b,") +
                    std::string(1, char('p' + i % 6)) + "\n";
        folder.write("t.csv", text);
    }

    MadeSplit make(const SplitCreate& request, const std::string& content_hash = {}) const {
        return make_split({.format = "csv",
                           .path = folder.path(),
                           .options = {.group_column = "who"},
                           .request = request,
                           .content_hash = content_hash});
    }
    std::unique_ptr<Dataset> open() const {
        return open_dataset("csv", folder.path(), {.group_column = "who"});
    }
};

const SplitCreate by_person{.method = SplitMethod::group_kfold, .folds = 3, .seed = 5};

}    // namespace

TEST(StoredSplit, is_certified) {
    const Table table;
    const Json report = table.make(by_person).report;
    EXPECT_EQ(report["samples"], 24);
    EXPECT_EQ(report["folds"], 3);
    EXPECT_EQ(report["groups"], 6);
    EXPECT_EQ(report["group_column"], "who");
    const Json& certificate = report["certificate"];
    EXPECT_EQ(certificate["validated"], Json::parse(R"({"min": 1, "max": 1})"));
    EXPECT_EQ(certificate["each_once"], true);
    EXPECT_EQ(certificate["shared_samples"], 0);
    EXPECT_EQ(certificate["by_group"], true);
    EXPECT_EQ(certificate["shared_groups"], 0);
    EXPECT_EQ(certificate["copies"], 1);
    ASSERT_EQ(report["parts"].size(), 3U);
    for (const Json& part : report["parts"]) {
        EXPECT_EQ(part["train"], 16);
        EXPECT_EQ(part["val"], 8);
        EXPECT_EQ(part["val_groups"], 2);
        EXPECT_EQ(part["train_groups"], 4);
    }
}

TEST(StoredSplit, what_it_does_not_promise_is_counted) {
    const Table table;
    const Json plain = table.make({.method = SplitMethod::kfold, .folds = 24}).report;
    // Each person has four rows: wherever one validates, the others train. So with the two copies.
    EXPECT_EQ(plain["certificate"]["by_group"], false);
    EXPECT_EQ(plain["certificate"]["shared_groups"], 24);
    EXPECT_EQ(plain["certificate"]["shared_copies"], 2);
    const Json series = table.make({.method = SplitMethod::time_series, .folds = 3}).report;
    EXPECT_TRUE(series["certificate"]["each_once"].is_null());
    EXPECT_EQ(series["certificate"]["validated"], Json::parse(R"({"min": 0, "max": 1})"));
    EXPECT_EQ(series["training"], "earlier");
}

TEST(StoredSplit, images_are_the_same_when_their_files_are) {
    TempFolder folder;
    const std::string file = png_file(patterned_image(1, 4, 4, 1));
    folder.write("a/1.png", file);
    folder.write("a/2.png", png_file(patterned_image(1, 4, 4, 2)));
    folder.write("b/3.png", file);
    const Contents contents = number_contents(*open_dataset("image_folder", folder.path()), 2);
    EXPECT_EQ(contents.numbers, (std::vector<std::int32_t>{0, 1, 0}));
    EXPECT_EQ(contents.copies, 1);
}

TEST(StoredSplit, the_manifest_is_read_as_it_was_written_and_is_the_same_again) {
    const Table table, twin;
    const MadeSplit made = table.make(by_person);
    EXPECT_EQ(made.manifest, twin.make(by_person).manifest);
    const SplitManifest manifest = parse_manifest(made.manifest);
    EXPECT_EQ(manifest.request, by_person);
    EXPECT_EQ(manifest.content_hash, made.report["content_hash"].get<std::string>());
    EXPECT_EQ(write_manifest(manifest), made.manifest);
    EXPECT_EQ(made.report["hash"], manifest_hash(made.manifest));
}

TEST(StoredSplit, a_fold_is_read_for_the_data_set_it_was_made_of) {
    const Table table;
    const MadeSplit made = table.make(by_person);
    TempFolder place;
    place.write("split.json", made.manifest);
    const SplitFile file{.path = place.path() / "split.json",
                         .hash = made.report["hash"],
                         .content_hash = made.report["content_hash"]};
    const auto read = [&](const SplitFile& from, std::int64_t fold) {
        return read_fold(from, fold, *table.open(), table.folder.path());
    };
    const Split split = read(file, 1);
    EXPECT_EQ(split.val, split_of_fold(parse_manifest(made.manifest).folds, 1).val);
    EXPECT_EQ(error_code_of([&] { read(file, 3); }), ErrorCode::invalid_argument);

    SplitFile other = file;
    other.content_hash = "sha256:other";
    EXPECT_TRUE(says(data_problem_of([&] { read(other, 0); }), "another one has") ||
                says(data_problem_of([&] { read(other, 0); }), "this one has sha256:other"));
    place.write("changed.json", made.manifest + " ");
    SplitFile changed = file;
    changed.path = place.path() / "changed.json";
    EXPECT_TRUE(says(data_problem_of([&] { read(changed, 0); }), "not the one that was made"));
    changed.path = place.path() / "none.json";
    EXPECT_TRUE(says(data_problem_of([&] { read(changed, 0); }), "cannot be read"));

    table.folder.write("t.csv", "x,label,who\n1,a,p\n2,b,q\n");
    EXPECT_TRUE(says(data_problem_of([&] { read(file, 0); }), "have changed"));
    EXPECT_TRUE(says(data_problem_of([&] { table.make(by_person, made.report["content_hash"]); }),
                     "have changed"));
}

TEST(StoredSplit, what_is_no_manifest_is_refused) {
    const Json good = Json::parse(Table().make(by_person).manifest);
    const auto refused = [](const Json& json) {
        return error_code_of([&] { parse_manifest(json.dump()); }) == ErrorCode::data_loss;
    };
    for (const char* name : {"version", "request", "dataset", "folds", "training", "validation"}) {
        Json missing = good;
        missing.erase(name);
        EXPECT_TRUE(refused(missing)) << name;
    }
    for (const auto& [name, value] :
         std::vector<std::pair<const char*, Json>>{{"version", 2},
                                                   {"folds", 0},
                                                   {"folds", 2000},
                                                   {"folds", 2},    // a sample has fold 2
                                                   {"training", "none"},
                                                   {"request", {{"method", "magic"}}},
                                                   {"validation", Json::array()},
                                                   {"validation", {{0, 1}}},
                                                   {"validation", {"a"}}}) {
        Json wrong = good;
        wrong[name] = value;
        EXPECT_TRUE(refused(wrong)) << name << " " << value;
    }
    EXPECT_EQ(error_code_of([] { parse_manifest("no JSON"); }), ErrorCode::data_loss);
}

TEST(StoredSplit, refuses_text_and_unknown_columns) {
    const Table table;
    EXPECT_EQ(error_code_of([&] {
                  make_split({.format = "text", .path = table.folder.path(), .request = {}});
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(error_code_of([&] {
                  table.make({.method = SplitMethod::stratified_kfold, .stratify_by = "who"});
              }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(
        table.make({.method = SplitMethod::stratified_kfold, .folds = 2, .stratify_by = "label"})
            .report["parts"][0]["val_classes"],
        Json({6, 6}));
}

}    // namespace slipway
