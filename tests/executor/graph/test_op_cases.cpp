#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/ops/op_cases.h"

namespace slipway {
namespace {

/// Rounding of a few f32 steps, and of expected values written with 8 digits.
constexpr double tolerance = 1e-6;

int core_count(const OpCase& op_case) {
    std::size_t cores = 1;
    for (const CaseValue& input : op_case.inputs)
        cores = std::max(cores, input.arrays.size());
    return int(cores);
}

void expect_result(const OpCase& op_case) {
    const Graph graph = build(op_case);
    std::vector<ReferenceValue> inputs;
    for (const CaseValue& input : op_case.inputs)
        inputs.push_back(input.arrays);
    const auto outputs = evaluate(graph, inputs, core_count(op_case));
    ASSERT_TRUE(op_case.expected.has_value()) << "the case needs y or error";
    ASSERT_EQ(outputs[0].size(), op_case.expected->arrays.size());
    for (std::size_t core = 0; core < outputs[0].size(); ++core)
        EXPECT_EQ(difference(outputs[0][core], op_case.expected->arrays[core], tolerance), "");
}

void expect_refusal(const OpCase& op_case) {
    try {
        build(op_case);
        ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
        EXPECT_EQ(to_string(error.code()), op_case.error);
        EXPECT_NE(std::string(error.what()).find("(" + op_case.constraint + ")"), std::string::npos)
            << error.what();
    }
}

class OpCases : public testing::TestWithParam<std::filesystem::path> {};

// Goal: every operation does what docs/contributing/ops.md says, and refuses what it says.
// Method: the blocks of the .case files, by the naive evaluator.
TEST_P(OpCases, hold) {
    const std::vector<OpCase> cases = read_op_cases(GetParam());
    EXPECT_FALSE(cases.empty());
    for (const OpCase& op_case : cases) {
        SCOPED_TRACE(op_case.file + ":" + std::to_string(op_case.line) + " " + op_case.name);
        op_case.error.empty() ? expect_result(op_case) : expect_refusal(op_case);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, OpCases, testing::ValuesIn(op_case_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}    // namespace
}    // namespace slipway
