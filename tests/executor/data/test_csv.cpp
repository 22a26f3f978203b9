#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "executor/data/dataset.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

const std::string irises =
    "width,height,label,plant\n"
    "1.5,2,setosa,a\n"
    "\"-3e2\", +4 ,virginica,b\n"
    "0,1e-3,setosa,b\n";

struct Table {
    TempFolder folder;
    explicit Table(const std::string& text) { folder.write("table.csv", text); }

    std::unique_ptr<Dataset> open(const DatasetOptions& options = {.group_column = "plant"}) const {
        return open_dataset("csv", folder.path(), options);
    }
    DataProblem problem(const DatasetOptions& options = {.group_column = "plant"}) const {
        return data_problem_of([&] { open(options); });
    }
};

}    // namespace

TEST(Csv, reads_features_classes_and_groups) {
    const Table table(irises);
    const auto dataset = table.open();
    const DatasetIndex& index = dataset->index();
    EXPECT_EQ(index.sample_count(), 3);
    EXPECT_EQ(index.feature_dims, (Dims{2}));
    EXPECT_EQ(index.class_names, (std::vector<std::string>{"setosa", "virginica"}));
    EXPECT_EQ(index.labels, (std::vector<std::int32_t>{0, 1, 0}));
    EXPECT_EQ(index.group_names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(index.groups, (std::vector<std::int32_t>{0, 1, 1}));
    std::vector<float> features(2);
    dataset->read(1, features);
    EXPECT_EQ(features, (std::vector<float>{-300, 4}));
    EXPECT_EQ(to_string(dataset->place(1)), "table.csv, row 3: ");
}

TEST(Csv, whole_numbers_as_labels_are_ordered_as_numbers) {
    const auto dataset = Table("x,label\n1,10\n2,9\n3,-1\n").open({});
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"-1", "9", "10"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{2, 1, 0}));
}

TEST(Csv, options_choose_columns_and_classes) {
    const auto dataset = Table(irises).open(
        {.feature_columns = {"height"}, .class_names = {"virginica", "setosa", "versicolor"}});
    EXPECT_EQ(dataset->index().feature_dims, (Dims{1}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(dataset->index().class_count(), 3);
}

TEST(Csv, numbers_too_near_to_0_are_0_and_too_large_ones_are_refused) {
    const std::string zeros(400, '0');
    for (const std::string& text :
         {std::string("1e-46"), std::string("3e-310"), std::string("1e-99999"), "0." + zeros + "1"})
        EXPECT_EQ(parse_number(text), 0.0F) << text;
    EXPECT_TRUE(std::signbit(*parse_number("-1e-46")));
    EXPECT_EQ(parse_number("1e-40"), 1e-40F);
    EXPECT_EQ(parse_exact_number("1e-310"), 1e-310);
    EXPECT_EQ(parse_exact_number("1e-400"), 0.0);
    for (const std::string& text : {std::string("1e39"), std::string("-1e400"), "1" + zeros,
                                    std::string("1e-46x"), std::string("1e"), std::string("inf")})
        EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Csv, a_table_in_utf16_is_called_that) {
    EXPECT_TRUE(says(Table(std::string("\xFF\xFEx\0,\0", 6)).problem(), "is UTF-16"));
}

TEST(Csv, a_table_beside_its_gzipped_one_is_refused) {
    const TempFolder folder;
    for (const char* name : {"train.csv", "val.csv"})
        folder.write(name, "x,label\n1,a\n2,b\n");
    folder.write("train.csv.gz", gzipped("x,label\n1,a\n2,b\n"));
    const DataProblem problem = data_problem_of([&] { open_dataset("csv", folder.path()); });
    EXPECT_EQ(problem.file, "train.csv.gz");
    EXPECT_EQ(problem.message, "train.csv is the same part; keep one of them");
}

TEST(Csv, endings_have_any_case_and_one_file_needs_none) {
    const std::string rows = "x,label\n1,a\n2,b\n";
    for (const char* name : {"DATA.CSV", "t.txt", "upload"}) {
        const TempFolder folder;
        folder.write(name, rows);
        EXPECT_EQ(open_dataset("csv", folder.path())->size(), 2) << name;
    }
    const TempFolder two;
    for (const char* name : {"Train.CSV", "val.csv", "notes"})
        two.write(name, rows);
    EXPECT_EQ(open_dataset("csv", two.path())->index().part_names,
              (std::vector<std::string>{"Train", "val"}));
}

TEST(Csv, several_files_are_parts_and_one_file_may_be_given_alone) {
    TempFolder folder;
    folder.write("train.csv", "x,label\n1,a\n2,b\n");
    folder.write("val.csv.gz", gzipped("x,label\n3,a\n"));
    folder.write("notes.txt", "not a table");
    const auto dataset = open_dataset("csv", folder.path());
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "val"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 1}));
    EXPECT_EQ(dataset->place(2).file, "val.csv.gz");
    EXPECT_EQ(open_dataset("csv", folder.path() / "train.csv")->size(), 2);
    folder.write("zebra.csv", "y,label\n1,a\n");
    EXPECT_EQ(data_problem_of([&] { open_dataset("csv", folder.path()); }).file, "zebra.csv");
}

TEST(Csv, quoting_follows_rfc_4180) {
    TempFolder folder;
    folder.write(
        "t.csv",
        "\xEF\xBB\xBF\"a\",\"b \"\"x\"\"\",c\r\n1,\"two\nlines, one field\",\r\n\r\n\"\",,3");
    CsvReader reader(ByteStream(Folder(folder.path()).open("t.csv"), "t.csv"));
    EXPECT_EQ(reader.columns(), (std::vector<std::string>{"a", "b \"x\"", "c"}));
    std::vector<std::string> fields;
    ASSERT_TRUE(reader.next(fields));
    EXPECT_EQ(fields, (std::vector<std::string>{"1", "two\nlines, one field", ""}));
    EXPECT_EQ(reader.row(), 2);
    ASSERT_TRUE(reader.next(fields));
    EXPECT_EQ(fields, (std::vector<std::string>{"", "", "3"}));
    EXPECT_EQ(reader.row(), 5);
    EXPECT_FALSE(reader.next(fields));
}

TEST(Csv, lines_end_in_any_of_the_usual_ways) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        TempFolder folder;
        folder.write("t.csv", "x,label" + end + "1,a" + end + end + "\"2\",\"b\"" + end + "3,c");
        const auto table = open_dataset("csv", folder.path());
        ASSERT_EQ(table->size(), 3);
        EXPECT_EQ(table->index().class_names, (std::vector<std::string>{"a", "b", "c"}));
        EXPECT_EQ(table->place(2).row, 5);
    }
}

TEST(Csv, a_bad_row_is_named_by_file_row_field_and_value) {
    struct Case {
        std::string row;
        std::string field;
        std::string message_part;
    };
    const std::vector<Case> cases = {
        {"abc,2,setosa,a", "width", "\"abc\""},
        {"1,2x,setosa,a", "height", "\"2x\""},
        {"nan,2,setosa,a", "width", "\"nan\""},
        {"inf,2,setosa,a", "width", "\"inf\""},
        {"1e39,2,setosa,a", "width", "\"1e39\""},
        {",2,setosa,a", "width", "missing"},
        {"1,2,,a", "label", "empty"},
        {"1,2,setosa,", "plant", "empty"},
        {"1,2,setosa", "", "3 fields"},
        {"1,2,setosa,a,b", "", "5 fields"},
        {"\"1\"2,2,setosa,a", "", "quoted"},
        {std::string("1,2\0,setosa,a", 14), "", "NUL"},
        {"1,2,\"setosa,a", "", "not closed"},
        {"1,2,caf\xE9,a", "", "byte 4 of field 3 (\"caf\\xe9\") is 0xe9"},
    };
    for (const Case& c : cases) {
        const DataProblem problem = Table(irises + c.row + "\n").problem();
        EXPECT_EQ(problem.file, "table.csv");
        EXPECT_EQ(problem.row, 5) << c.row;
        EXPECT_EQ(problem.field, c.field) << c.row;
        EXPECT_NE(problem.message.find(c.message_part), std::string::npos) << problem.message;
    }
}

TEST(Csv, headers_must_name_each_column_once_and_have_those_asked_for) {
    EXPECT_EQ(Table("").problem().file, "table.csv");
    EXPECT_EQ(Table("x,x,label\n1,2,a\n").problem({}).field, "x");
    EXPECT_EQ(Table("x,,label\n1,2,a\n").problem({}).row, 1);
    const DataProblem missing = Table("x,class\n1,a\n").problem({});
    EXPECT_EQ(missing.field, "label");
    EXPECT_NE(missing.message.find("x, class"), std::string::npos);
    EXPECT_NE(missing.message.find("label_column"), std::string::npos);
    EXPECT_EQ(Table("x,label\n1,a\n").problem().field, "plant");
    EXPECT_EQ(Table("x,label\n1,a\n").problem({.feature_columns = {"y"}}).field, "y");
    EXPECT_EQ(Table("label\na\n").problem({}).row, 1);
    EXPECT_EQ(Table("x,label\n").problem({}).file, "table.csv");
    EXPECT_EQ(error_code_of([] { Table(irises).open({.image_size = 8}); }),
              ErrorCode::invalid_argument);
}

TEST(Csv, a_value_in_a_message_is_always_text) {
    EXPECT_EQ(shown("a\x01é"), "\"a\\x01é\"");
    EXPECT_EQ(shown("\xE9"), "\"\\xe9\"");
    EXPECT_EQ(shown(std::string(39, 'a') + "é"), "\"" + std::string(39, 'a') + "…\"");
}

TEST(Csv, an_inspection_lists_twenty_problems_and_counts_all) {
    std::string text = irises;
    for (int i = 0; i < 50; ++i)
        text += "1,bad,setosa,a\n";
    const Table table(text);
    const nlohmann::json report =
        inspect_dataset("csv", table.folder.path(), {.group_column = "plant"});
    EXPECT_EQ(report["samples"], 3);
    EXPECT_EQ(report["problem_count"], 50);
    ASSERT_EQ(report["problems"].size(), 20U);
    EXPECT_EQ(report["problems"][0]["row"], 5);
    EXPECT_EQ(report["problems"][0]["field"], "height");
    EXPECT_EQ(report["problems"][19]["row"], 24);
}

TEST(Csv, a_large_table_is_read_in_pieces) {
    std::string text = "x,label\n";
    for (int i = 0; i < 100'000; ++i)
        text += std::to_string(i) + ",c" + std::to_string(i % 3) + "\n";
    const auto dataset = Table(text).open({});
    EXPECT_EQ(dataset->size(), 100'000);
    std::vector<float> feature(1);
    dataset->read(99'999, feature);
    EXPECT_EQ(feature[0], 99'999);
}

}    // namespace slipway
