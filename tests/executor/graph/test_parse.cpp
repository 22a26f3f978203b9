#include "executor/graph/parse.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/graph/ops.h"
#include "executor/graph/print.h"
#include "tests/executor/ops/op_cases.h"

namespace slipway {
namespace {

void expect_round_trip(const Graph& graph) {
    const std::string text = print(graph);
    const Graph parsed = parse_graph(text);
    EXPECT_EQ(print(parsed), text);
    EXPECT_EQ(hash_of(parsed), hash_of(graph)) << text;
}

// Goal: the text says everything. Method: the graphs of all op cases.
TEST(Parse, every_op_reads_back) {
    for (const auto& file : op_case_files()) {
        for (const OpCase& op_case : read_op_cases(file)) {
            if (!op_case.expected) continue;
            SCOPED_TRACE(op_case.file + ":" + std::to_string(op_case.line));
            expect_round_trip(build(op_case));
        }
    }
}

TEST(Parse, donations_and_names_with_blanks_read_back) {
    const Tensor x = input({DType::f32, {2}}, Placement::replicated, "a name with blanks");
    const Tensor z = input({DType::f32, {2}}, Placement::per_core, "");
    const Graph graph{
        {x, z}, {x * constant(0.1), all_reduce(z, Reduction::add, DType::bf16)}, {{1, 0}}};
    expect_round_trip(graph);
    const Graph parsed = parse_graph(print(graph));
    ASSERT_EQ(parsed.donations.size(), 1u);
    EXPECT_EQ(parsed.donations[0].output, 1u);
}

TEST(Parse, constants_keep_every_bit) {
    for (const double value : {0.0, -0.0, 0.1, 1e300, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()})
        expect_round_trip({{}, {constant(value, DType::f64)}, {}});
}

struct Refusal {
    const char* text;
    const char* message;
};

TEST(Parse, broken_text_is_refused) {
    const std::vector<Refusal> refusals{
        {"%0 = laef f32[2] replicated name=x", "line 1: no op: laef"},
        {"%0 = input f33[2] replicated name=x", "no dtype: f33"},
        {"%0 = input f32[2 replicated name=x", "no list"},
        {"%0 = input f32[a] replicated name=x", "no number: a"},
        {"%0 = input f32[2] somewhere name=x", "no placement"},
        {"%0 = input f32[2] replicated", "name is missing"},
        {"%0 input f32[2] replicated name=x", "= is missing"},
        {"%0 = input f32[2]", "the line ends too early"},
        {"output %7", "no value: %7"},
        {"%0 = constant f32[] replicated value=1\n%1 = add f32[] replicated %0",
         "line 2: 2 operands are wanted"},
        {"%0 = constant f32[] replicated value=1\n%1 = abs f64[] replicated %0",
         "line 2: %1 is f32[]"},
        {"%0 = constant f32[] replicated value=1x", "no number: 1x"},
        {"%0 = constant f32[] replicated value=1 what", "no attribute: what"},
        {"%0 = iota f32[2] replicated dimension=1", "iota_c1"},
        {"%0 = constant f32[] replicated value=1\n%1 = composite f32[] replicated %0 name=relu6",
         "composite_c1"},
        {"%0 = constant f32[] replicated value=1\ndonate output 0 to %0",
         "only inputs are donated"},
    };
    for (const auto& [text, message] : refusals) {
        try {
            parse_graph(text);
            ADD_FAILURE() << "was not refused: " << text;
        } catch (const Error& problem) {
            EXPECT_EQ(problem.code(), ErrorCode::invalid_argument);
            EXPECT_NE(std::string(problem.what()).find(message), std::string::npos)
                << problem.what();
        }
    }
}

}    // namespace
}    // namespace slipway
