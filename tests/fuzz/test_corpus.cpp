// Goal: every reader says of every file in its corpus what it should.
// Method: make_corpus.py writes the corpus; each file goes through its fuzz target, and what that
// says is compared with expected/TARGET.txt, "FILE: what is said". SLIPWAY_UPDATE=1 rewrites it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

/// For the name of a ctest case.
void PrintTo(const FuzzTarget& target, std::ostream* out) {
    *out << target.name;
}

namespace {

std::vector<fs::path> corpus_of(const std::string& target, const fs::path& folder) {
    const std::string command = fmt::format("/usr/bin/python3 {}/tests/fuzz/make_corpus.py {} {}",
                                            SLIPWAY_SOURCE_DIR, target, folder.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// What is said on one line, control characters escaped.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        if (c == '\n')
            line += " | ";
        else if (static_cast<unsigned char>(c) < ' ')
            line += fmt::format("\\x{:02x}", int(c));
        else
            line += c;
    }
    return line;
}

class Corpus : public testing::TestWithParam<FuzzTarget> {};

}    // namespace

TEST_P(Corpus, each_file_is_read_or_refused_in_the_expected_words) {
    const FuzzTarget& target = GetParam();
    const TempFolder folder;
    std::string said;
    for (const fs::path& file : corpus_of(std::string(target.name), folder.path() / "corpus")) {
        const std::string bytes = read_file(file);
        said += fmt::format("{}: {}\n", file.filename().string(),
                            on_one_line(target.run(std::as_bytes(std::span(bytes)))));
    }
    const fs::path expected =
        fs::path(SLIPWAY_SOURCE_DIR) / "tests/fuzz/expected" / fmt::format("{}.txt", target.name);
    if (std::getenv("SLIPWAY_UPDATE") != nullptr) std::ofstream(expected) << said;
    EXPECT_FALSE(said.empty());
    EXPECT_EQ(said, read_file(expected)) << "if that is right, run this test with SLIPWAY_UPDATE=1";
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus,
                         testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

}    // namespace slipway
