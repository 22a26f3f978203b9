#include "executor/predict/prediction_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(PredictionFile, appears_when_it_is_complete_in_the_place_of_an_older_one) {
    const TempFolder folder;
    const auto path = folder.write("report/predictions.csv", "old\n");
    folder.write("report/predictions.csv.tmp", "left by a killed attempt");
    {
        PredictionFile file(path);
        file.write("sample\n");
        EXPECT_EQ(read_file(path), "old\n");
        file.write("0\n");
        file.finish();
    }
    EXPECT_EQ(read_file(path), "sample\n0\n");
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".tmp"));
}

TEST(PredictionFile, one_that_is_given_up_leaves_nothing) {
    const TempFolder folder;
    const auto path = folder.path() / "report/predictions.csv";
    {
        PredictionFile file(path);
        file.write("sample\n");
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "report"));
}

TEST(CsvField, is_quoted_where_it_has_to_be) {
    EXPECT_EQ(csv_field("plain name"), "plain name");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("say \"a\""), "\"say \"\"a\"\"\"");
    EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(CsvField, numbers_come_back_and_none_is_an_empty_field) {
    std::string csv;
    append_number(csv, 0.1F);
    append_number(csv, 1.0F / 3);
    append_number(csv, std::nanf(""));
    append_number(csv, std::numeric_limits<double>::infinity());
    append_number(csv, -2.0);
    EXPECT_EQ(csv, ",0.1,0.33333334,,,-2");
}

}    // namespace
}    // namespace slipway
