#include "scheduler/cross_validation/oof_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/base/sha256.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

struct OofFile : testing::Test {
    TempFolder folder;
    const fs::path out = folder.path() / "oof.csv";

    OofPart part(std::int64_t fold, const std::string& text, std::int64_t repeat = 0) const {
        return {.fold = fold,
                .repeat = repeat,
                .file = folder.write(fmt::format("job_{}/predictions.csv", fold), text)};
    }

    ErrorCode code_of(const std::vector<OofPart>& parts) const {
        try {
            write_oof(parts, out, false);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::internal;
    }
};

TEST_F(OofFile, samples_of_all_folds_come_in_their_order) {
    const auto file = write_oof(
        {part(0, "sample,label\n1,a\n3,\"b,\n\"\"c\"\n"), part(1, "sample,label\n0,a\n2,b\n4,b\n")},
        out, false);
    const std::string text = "sample,fold,label\n0,1,a\n1,0,a\n2,1,b\n3,0,\"b,\n\"\"c\"\n4,1,b\n";
    EXPECT_EQ(read_file(out), text);
    EXPECT_EQ(file.rows, 5);
    EXPECT_EQ(file.bytes, std::int64_t(text.size()));
    EXPECT_EQ(file.sha256, sha256_hex(text));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 3);
}

TEST_F(OofFile, repeats_have_a_column) {
    write_oof({part(0, "sample,p\n0,1\n"), part(1, "sample,p\n1,1\n"),
               part(2, "sample,p\n1,2\n", 1), part(3, "sample,p\n0,2\n", 1)},
              out, true);
    EXPECT_EQ(read_file(out), "sample,fold,repeat,p\n0,0,0,1\n0,3,1,2\n1,1,0,1\n1,2,1,2\n");
}

TEST_F(OofFile, a_thousand_folds_need_no_thousand_open_files) {
    std::vector<OofPart> parts;
    for (std::int64_t fold = 0; fold < 1000; ++fold)
        parts.push_back(part(fold, fmt::format("sample,p\n{},0\n{},1\n", fold, 2000 - fold)));
    EXPECT_EQ(write_oof(parts, out, false).rows, 2000);
    std::ifstream lines(out);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "sample,fold,p");
    std::int64_t last = -1;
    while (std::getline(lines, line)) {
        const std::int64_t sample = std::stoll(line);
        EXPECT_GT(sample, last);
        last = sample;
    }
    EXPECT_EQ(last, 2000);
    // Nothing is left between.
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1001);
}

TEST_F(OofFile, refuses_what_executors_must_not_write) {
    EXPECT_EQ(code_of({part(0, "sample,p\n1,0\n"), part(1, "sample,p\n1,0\n")}),
              ErrorCode::conflict);
    EXPECT_EQ(code_of({part(0, "sample,p\n1,0\n"), part(1, "sample,q\n2,0\n")}),
              ErrorCode::conflict);
    EXPECT_EQ(code_of({part(0, "sample,p\n2,0\n1,0\n")}), ErrorCode::conflict);
    for (const char* text : {"", "label\n", "sample,p\nx,0\n", "sample,p\n-1,0\n", "sample,p\n1,0",
                             "sample,p\n1,\"\n"})
        EXPECT_EQ(code_of({part(0, text)}), ErrorCode::conflict) << text;
}

TEST_F(OofFile, follows_no_link) {
    folder.write("secret", "sample,p\n0,1\n");
    fs::create_directories(folder.path() / "job_0");
    fs::create_symlink(folder.path() / "secret", folder.path() / "job_0/predictions.csv");
    EXPECT_EQ(code_of({{.file = folder.path() / "job_0/predictions.csv"}}), ErrorCode::not_found);
    fs::create_directory_symlink(folder.path() / "job_0", folder.path() / "job_1");
    EXPECT_EQ(code_of({{.file = folder.path() / "job_1/predictions.csv"}}), ErrorCode::not_found);
    EXPECT_EQ(code_of({{.file = folder.path() / "job_2/predictions.csv"}}), ErrorCode::not_found);
}

}    // namespace
}    // namespace slipway
