#include "executor/graph/stablehlo/stablehlo.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "executor/graph/ops.h"
#include "executor/graph/stablehlo/erf_as_polynomial.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/ops/op_cases.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(StableHlo, one_op) {
    const Tensor x = input({DType::f32, {2, 3}}, Placement::replicated, "x");
    const Tensor z = input({DType::f32, {2, 3}}, Placement::replicated, "z");
    EXPECT_EQ(print_stablehlo({{x, z}, {x + z}, {}}, 8),
              "\"builtin.module\"() ({\n"
              "\"func.func\"() ({\n"
              "^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>):\n"
              "%0 = \"stablehlo.add\"(%arg0, %arg1)  {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
              "tensor<2x3xf32>\n"
              "\"func.return\"(%0) : (tensor<2x3xf32>) -> ()\n"
              "}) {function_type = (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>), "
              "sym_name = \"main\", sym_visibility = \"public\"} : () -> ()\n"
              "}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 8 : i32} : () -> ()\n");
}

/// What only one op writes: if it is there, the op was.
TEST(StableHlo, attributes_of_some_ops) {
    const Tensor x = input({DType::f32, {4, 3}}, Placement::per_core, "x");
    const Tensor indices = input({DType::i32, {5}}, Placement::per_core, "i");
    const Graph graph{
        {x, indices}, {gather(x, indices), softmax(x), all_reduce(x), clamp(x, x, x)}, {}};
    const std::string text = print_stablehlo(graph, 2);
    for (const char* part :
         {"#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
          "index_vector_dim = 1>",
          "slice_sizes = array<i64: 1, 3>", "name = \"slipway.softmax\"",
          "decomposition = @slipway.softmax_0", "sym_name = \"slipway.softmax_0\"",
          "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "value = dense<0xFF800000>"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(StableHlo, a_sum_that_is_exchanged_is_rounded_in_two_steps) {
    const Tensor x = input({DType::f32, {2}}, Placement::per_core, "x");
    const Graph graph{{x}, {all_reduce(x, Reduction::add, DType::bf16)}, {}};
    const std::string text = print_stablehlo(graph, 16);
    for (const char* part :
         {"replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]> : "
          "tensor<2x8xi64>",
          "replica_groups = dense<[[0, 8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], "
          "[7, "
          "15]]> : tensor<8x2xi64>",
          "\"stablehlo.reduce_precision\"(%2) {exponent_bits = 8 : i32, mantissa_bits = 7 : i32}"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(print_stablehlo(graph, 8).find("reduce_precision"), std::string::npos);
}

TEST(StableHlo, erf_as_polynomial_is_near_erf) {
    constexpr std::int64_t count = 4001;
    const Tensor x = input({DType::f32, {count}}, Placement::replicated, "x");
    Array values(x.shape());
    for (std::int64_t i = 0; i < count; ++i)
        values.as<float>()[std::size_t(i)] = float(i - count / 2) / 400;
    const auto found = evaluate({{x}, {erf_as_polynomial(x), erf(x)}, {}}, {{{values}}}, 1);
    EXPECT_EQ(difference(found[0][0], found[1][0], 5e-7), "");
}

// Goal: the text is MLIR. Method: every op case in one file, given to Debian's mlir-opt, which
// knows the syntax and not the dialect.
TEST(StableHlo, mlir_accepts_every_op) {
    const TempFolder folder;
    const std::filesystem::path file = folder.path() / "cases.mlir";
    const std::filesystem::path problems = folder.path() / "problems";
    std::ofstream stream(file);
    for (const auto& case_file : op_case_files()) {
        for (const OpCase& op_case : read_op_cases(case_file)) {
            if (!op_case.expected) continue;
            const std::size_t cores = op_case.inputs.empty() ? 1 : op_case.inputs[0].arrays.size();
            stream << "// " << op_case.file << ":" << op_case.line << "\n"
                   << print_stablehlo(build(op_case), int(cores));
        }
    }
    stream.close();
    const std::string command = "mlir-opt-19 --allow-unregistered-dialect " + file.string() +
                                " -o /dev/null 2> " + problems.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(problems).substr(0, 2000);
}

}    // namespace
}    // namespace slipway
