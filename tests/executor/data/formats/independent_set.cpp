#include "tests/executor/data/formats/independent_set.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <sstream>

#include "api/base/sha256.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

constexpr int cannot_exit = 77;    // what the script exits with when a module is missing

}    // namespace

IndependentSet::IndependentSet(const std::string& kind) {
    // Debian's Python, which Debian's modules belong to, whatever else is on the path.
    const std::string command =
        fmt::format("/usr/bin/python3 {}/tests/executor/data/formats/make_sets.py {} {} > {} 2> {}",
                    SLIPWAY_SOURCE_DIR, kind, (folder.path() / "set").string(),
                    (folder.path() / "expected").string(), (folder.path() / "said").string());
    const int status = std::system(command.c_str());
    possible = WIFEXITED(status) && WEXITSTATUS(status) != cannot_exit;
    if (!possible) return;
    EXPECT_EQ(status, 0) << command << "\n" << read_file(folder.path() / "said");
    std::istringstream text(read_file(folder.path() / "expected"));
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
}

std::string describe(const Dataset& dataset, std::int64_t sample, bool scaled) {
    const DatasetIndex& index = dataset.index();
    const std::vector<float> features = features_of(dataset, sample);
    std::string bytes;
    if (scaled) {
        for (const float feature : features)
            bytes += char(int(feature * 255.0F + 0.5F));
    } else {
        bytes.assign(reinterpret_cast<const char*>(features.data()), features.size() * 4);
    }
    return fmt::format("{} {} {}", index.part_names[std::size_t(index.parts[std::size_t(sample)])],
                       index.class_names[std::size_t(dataset.label(sample))], sha256_hex(bytes));
}

void expect_same(const IndependentSet& set, const Dataset& dataset, bool scaled) {
    ASSERT_EQ(dataset.size(), std::int64_t(set.lines.size()));
    for (std::int64_t i = 0; i < dataset.size(); ++i)
        ASSERT_EQ(describe(dataset, i, scaled), set.lines[std::size_t(i)]) << "sample " << i;
}

}    // namespace slipway
