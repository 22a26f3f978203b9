#include "executor/graph/composite_table.h"
#include "executor/graph/op_table.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/executor/ops/op_cases.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// Section of docs/contributing/ops.md -> the constraints it numbers.
std::map<std::string, std::set<std::string>> documented_constraints() {
    std::istringstream text(
        read_file(std::filesystem::path(SLIPWAY_SOURCE_DIR) / "docs/contributing/ops.md"));
    std::map<std::string, std::set<std::string>> sections;
    std::string section;
    std::smatch match;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("## ")) sections[section = line.substr(3)];
        if (std::regex_search(line, match, std::regex("^- `([a-z0-9_]+_c[0-9]+)`:")))
            sections[section].insert(match[1]);
    }
    sections.erase("Rules for all");
    return sections;
}

/// Of these, test_node.cpp shows the refusal: the functions of ops.h cannot be made to break them.
const std::set<std::string> refused_elsewhere{"pad_c2"};

TEST(OpTable, every_op_has_a_section_and_cases) {
    const auto sections = documented_constraints();
    for (const OpRow& row : op_table()) {
        EXPECT_TRUE(sections.contains(std::string(row.name))) << row.name;
        EXPECT_TRUE(std::filesystem::exists(op_case_folder() / (std::string(row.name) + ".case")))
            << row.name;
    }
    for (const CompositeRow& row : composite_table()) {
        EXPECT_TRUE(sections.contains(std::string(row.name))) << row.name;
        EXPECT_EQ(find_composite(row.name), &row);
    }
}

TEST(OpTable, every_op_has_a_gradient_or_the_reason_for_none) {
    for (const OpRow& row : op_table())
        EXPECT_NE(row.gradient == nullptr, row.no_gradient.empty()) << row.name;
}

TEST(OpTable, every_op_but_input_has_a_shape_rule_and_an_evaluator) {
    for (const OpRow& row : op_table()) {
        EXPECT_NE(row.infer, nullptr) << row.name;
        const bool is_evaluated = row.evaluate != nullptr || row.evaluate_over_cores != nullptr;
        EXPECT_NE(is_evaluated, row.op == OpCode::input) << row.name;
        EXPECT_EQ(row.more_shapes == nullptr, row.evaluate_result == nullptr) << row.name;
    }
}

TEST(OpTable, names_are_distinct) {
    std::set<std::string_view> names;
    for (const OpRow& row : op_table())
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

// Goal: no constraint without a case that breaks it and one that keeps it, no case without a
// section.
TEST(OpTable, every_constraint_is_broken_by_a_case) {
    std::set<std::string> broken = refused_elsewhere;
    std::set<std::string> kept;
    for (const auto& file : op_case_files()) {
        for (const OpCase& op_case : read_op_cases(file)) {
            if (!op_case.error.empty()) broken.insert(op_case.constraint);
            if (op_case.expected) kept.insert(file.stem());
        }
    }
    std::set<std::string> documented;
    for (const auto& [section, constraints] : documented_constraints()) {
        EXPECT_TRUE(kept.contains(section)) << section << " has no case with a result";
        documented.insert(constraints.begin(), constraints.end());
    }
    EXPECT_EQ(broken, documented);
}

}    // namespace
}    // namespace slipway
