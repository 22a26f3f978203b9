#include "tests/api/spec/examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace slipway {

std::string source_file(const std::string& name) {
    std::ifstream file(std::filesystem::path(SLIPWAY_SOURCE_DIR) / name);
    EXPECT_TRUE(file) << name;
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

Json example(const std::string& name) {
    return parse_json(source_file("api/examples/" + name)).value().value;
}

std::vector<std::string> example_names(const std::string& prefix) {
    std::vector<std::string> names;
    const auto folder = std::filesystem::path(SLIPWAY_SOURCE_DIR) / "api/examples";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        if (name.starts_with(prefix)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string summary_of(const std::vector<Problem>& problems) {
    std::string text;
    for (const Problem& one : problems)
        text += one.pointer + " " + one.code + "\n";
    return text;
}

std::vector<InvalidCase> invalid_cases(const std::string& file) {
    const Json all = example(file);
    std::vector<InvalidCase> cases;
    for (const Json& one : all["cases"]) {
        Json document = all["base"];
        document.merge_patch(one["patch"]);
        cases.push_back({one["case"], std::move(document), one["problems"]});
    }
    return cases;
}

void expect_problems(const InvalidCase& wanted, const std::vector<Problem>& found) {
    std::string summary;
    for (const Json& one : wanted.problems) {
        summary += one["pointer"].get<std::string>() + " " + one["code"].get<std::string>() + "\n";
    }
    EXPECT_EQ(summary_of(found), summary) << wanted.name;
    for (std::size_t index = 0; index < std::min(found.size(), wanted.problems.size()); ++index) {
        const Json& one = wanted.problems[index];
        const std::string& message = found[index].message;
        EXPECT_NE(message.find(one.value("says", "")), message.npos)
            << wanted.name << ": " << message;
        if (one.contains("allowed")) {
            EXPECT_EQ(Json(found[index].allowed), one["allowed"]) << wanted.name;
        }
    }
}

}    // namespace slipway
