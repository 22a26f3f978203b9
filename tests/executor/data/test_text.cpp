// Goal: the format text is found, counted and checked; a bad file is named with row and byte.
#include "executor/data/formats/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/dataset.h"
#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

}    // namespace

TEST(Text, files_are_parts_and_are_counted) {
    TempFolder folder;
    folder.write("train.txt", "\xEF\xBB\xBFnaïve\nline\n\nlast");
    folder.write("valid.txt.gz", gzipped("two\n"));
    folder.write("below/more.txt", "not of it");
    const Json bare = inspect_dataset("text", folder.path());
    folder.write("vocab.txt", "[UNK]");
    const Json report = inspect_dataset("text", folder.path());
    EXPECT_EQ(report["problem_count"], 0) << report.dump();
    EXPECT_EQ(report["samples"], 5);
    EXPECT_EQ(report["parts"],
              Json::parse(R"([{"name":"train","count":4},{"name":"valid","count":1}])"));
    EXPECT_EQ(report["text"], Json::parse(R"({"bytes":21,"characters":20,"lines":5})"));
    EXPECT_TRUE(report["content_hash"].get<std::string>().starts_with("sha256:"));
    EXPECT_NE(report["content_hash"], bare["content_hash"]);
    EXPECT_EQ(report["text"], bare["text"]);
    EXPECT_EQ(report, inspect_dataset("text", folder.path(), {}, 1));
}

TEST(Text, one_file_is_a_set_without_parts) {
    TempFolder folder;
    folder.write("notes.md", "a\nb\n");
    const Json report = inspect_dataset("text", folder.path() / "notes.md");
    EXPECT_EQ(report["samples"], 2);
    EXPECT_EQ(report["parts"], Json::array());
    EXPECT_EQ(inspect_dataset("text", folder.path()), report);
    EXPECT_EQ(report["problem_count"], 0);
}

TEST(Text, bytes_that_are_no_text_are_named) {
    struct Case {
        std::string text;
        std::int64_t row;
        std::string words;
    };
    for (const Case& bad : {Case{"one\ntw\xFFo", 2, "byte 6 of the file is 0xff"},
                            Case{"\xC3", 1, "byte 0"}, Case{std::string("a\0b\0", 4), 1, "UTF-16"},
                            Case{std::string("\xFF\0", 2), 1, "byte 0"}}) {
        TempFolder folder;
        folder.write("train.txt", bad.text);
        folder.write("other.txt", "fine");
        const Json report = inspect_dataset("text", folder.path());
        ASSERT_EQ(report["problem_count"], 1) << bad.words;
        EXPECT_EQ(report["problems"][0]["file"], "train.txt");
        EXPECT_EQ(report["problems"][0]["row"], bad.row);
        EXPECT_NE(report["problems"][0]["message"].get<std::string>().find(bad.words),
                  std::string::npos)
            << report.dump();
        ProblemLog problems(ProblemLog::Mode::throw_first);
        EXPECT_EQ(data_problem_of([&] {
                      read_text_part(text_folder(folder.path()), "train.txt", problems);
                  }).row,
                  bad.row);
    }
}

TEST(Text, sets_that_cannot_be_used_say_why) {
    TempFolder empty, twice, broken;
    empty.write("train.txt", "");
    twice.write("train.txt", "a");
    twice.write("train.txt.gz", gzipped("a"));
    const std::string packed = gzipped(std::string(1000, 'a') + "b");
    broken.write("train.txt.gz", packed.substr(0, packed.size() - 9));
    const auto message = [](const TempFolder& folder) {
        return inspect_dataset("text", folder.path())["problems"][0]["message"].get<std::string>();
    };
    EXPECT_NE(message(empty).find("no text"), std::string::npos);
    EXPECT_NE(message(twice).find("the same part"), std::string::npos);
    EXPECT_NE(message(broken).find("gzip"), std::string::npos);
}

TEST(Text, is_not_opened_as_samples_of_classes) {
    TempFolder folder;
    folder.write("train.txt", "a");
    EXPECT_EQ(error_code_of([&] { open_dataset("text", folder.path()); }),
              ErrorCode::invalid_argument);
}

TEST(Text, wikitext_and_shakespeare_are_read_whole) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const Json wiki = inspect_dataset("text", test_data_folder() / "wikitext2");
    EXPECT_EQ(wiki["problem_count"], 0);
    EXPECT_EQ(wiki["text"]["bytes"], 1256449 + 1121681);
    EXPECT_EQ(wiki["parts"][0]["name"], "test");
    EXPECT_EQ(wiki["parts"][1]["name"], "valid");
    const Json plays = inspect_dataset("text", test_data_folder() / "tinyshakespeare");
    EXPECT_EQ(plays["text"],
              Json::parse(R"({"bytes":1115394,"characters":1115394,"lines":40000})"));
}

}    // namespace slipway
