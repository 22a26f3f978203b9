#include "executor/graph/dot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "executor/graph/ops.h"
#include "tests/executor/ops/op_cases.h"

namespace slipway {
namespace {

Tensor weight() {
    return input({DType::f32, {3}}, Placement::replicated, "fc.weight");
}

TEST(Dot, shows_op_shape_placement_attributes_outputs_and_donations) {
    const Tensor w = weight();
    const Tensor x = input({DType::f32, {3}}, Placement::per_core, "x");
    const Tensor sum = all_reduce(x);
    EXPECT_EQ(print_dot({{w, x}, {w + sum}, {{0, 0}}}),
              "digraph step {\n"
              "node [shape=box, fontname=monospace]\n"
              "n0 [label=\"input\\nf32[3] replicated\\nname=fc.weight\"]\n"
              "n1 [label=\"input\\nf32[3] per_core\\nname=x\", style=filled]\n"
              "n2 [label=\"all_reduce\\nf32[3] replicated\\nreduction=add\"]\n"
              "n3 [label=\"add\\nf32[3] replicated\"]\n"
              "n1 -> n2\n"
              "n0 -> n3\n"
              "n2 -> n3\n"
              "output0 [label=\"output 0\", shape=oval]\n"
              "n3 -> output0\n"
              "output0 -> n0 [style=dashed, constraint=false]\n"
              "}\n");
}

TEST(Dot, nodes_of_one_frame_are_drawn_together) {
    const Tensor w = weight();
    const Tensor squared = w * w, root = sqrt(squared), negated = negate(root);
    const DotFrames frames{{squared.get(), 4}, {root.get(), 4}};
    const std::string text = print_dot({{w}, {negated}, {}}, frames);
    EXPECT_NE(text.find("subgraph cluster_4 {\nlabel=\"kernel 4\"\n"
                        "n1 [label=\"multiply\\nf32[3] replicated\"]\n"
                        "n2 [label=\"sqrt\\nf32[3] replicated\"]\n}\n"),
              std::string::npos)
        << text;
}

TEST(Dot, a_name_cannot_end_its_label) {
    const Tensor x = input({DType::f32, {}}, Placement::replicated, "a\"b\\");
    EXPECT_NE(print_dot({{x}, {x}, {}}).find("name=a\\\"b\\\\\"]"), std::string::npos);
}

// Goal: every op can be drawn. Method: each op case; all its nodes are there once and every edge
// joins two of them.
TEST(Dot, every_op_is_drawn_once_with_all_its_operands) {
    for (const auto& file : op_case_files()) {
        for (const OpCase& op_case : read_op_cases(file)) {
            if (!op_case.expected) continue;
            const Graph graph = build(op_case);
            std::size_t operands = 0, nodes = 0, edges = 0;
            for (const Tensor& tensor : topological_order(graph))
                operands += tensor.node().operands.size();
            std::istringstream text(print_dot(graph));
            for (std::string line; std::getline(text, line);) {
                nodes += line.starts_with("n") && line.find("[label=") != std::string::npos;
                edges += line.find(" -> n") != std::string::npos;
                EXPECT_EQ(std::ranges::count(line, '"') % 2, 0) << line;
            }
            EXPECT_EQ(nodes, topological_order(graph).size()) << op_case.file << op_case.line;
            EXPECT_EQ(edges, operands) << op_case.file << op_case.line;
        }
    }
}

}    // namespace
}    // namespace slipway
