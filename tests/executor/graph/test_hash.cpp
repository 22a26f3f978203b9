#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "executor/graph/ops.h"

namespace slipway {
namespace {

Tensor input(Dims dims = {4, 4}, DType dtype = DType::f32,
             Placement placement = Placement::replicated, const char* name = "x") {
    return input({dtype, std::move(dims)}, placement, name);
}

Graph one_output(std::vector<Tensor> inputs, Tensor output) {
    return {std::move(inputs), {std::move(output)}, {}};
}

/// A graph of one input and what `make` does with it.
Graph of(const std::function<Tensor(const Tensor&)>& make) {
    const Tensor x = input();
    return one_output({x}, make(x));
}

Graph convolved(const ConvolutionAttributes& attributes) {
    const Tensor x = input({4, 4, 4, 4});
    const Tensor kernel = input({4, 4, 2, 2});
    return one_output({x, kernel}, convolution(x, kernel, attributes));
}

Tensor index(double value) {
    return constant(value, DType::i32);
}

Graph windowed(const WindowDimension& window) {
    return of([&](const Tensor& x) { return reduce_window(x, {window, {}}, Reduction::add); });
}

using std::string;

using Graphs = std::map<string, Graph>;

/// The order of operands, inputs and outputs; donations; what inputs and constants are.
void add_structures(Graphs& graphs) {
    const auto add = [&](const string& name, Graph graph) { graphs.emplace(name, graph); };
    const Tensor x = input();
    const Tensor z = input();
    add("subtract", one_output({x, z}, x - z));
    add("subtract, operands swapped", one_output({x, z}, z - x));
    add("subtract, inputs swapped in the list and the operands", one_output({x, z}, x - z + x));
    add("subtract, the same input twice", one_output({x, z}, x - x));
    add("subtract, the other input twice", one_output({x, z}, z - z));
    add("two differences", one_output({x, z}, (x - z) + (x - z)));
    add("two opposite differences", one_output({x, z}, (x - z) + (z - x)));
    add("another op", one_output({x, z}, x / z));
    add("one input more", one_output({x, z, input()}, x - z));
    add("output twice", {{x, z}, {x, x}, {}});
    add("other output first", {{x, z}, {x, z}, {}});
    add("outputs in the other order", {{x, z}, {z, x}, {}});
    add("donation", {{x, z}, {x, z}, {{0, 0}}});
    add("another donation", {{x, z}, {x, z}, {{0, 1}}});
    add("two donations", {{x, z}, {x, z}, {{0, 0}, {1, 1}}});
    add("shape of an input", one_output({input({4, 2})}, constant(1)));
    add("dtype of an input", one_output({input({4, 4}, DType::f64)}, constant(1)));
    add("placement of an input",
        one_output({input({4, 4}, DType::f32, Placement::per_core)}, constant(1)));
    for (const double value : {0.0, -0.0, 1.0, 1.0000000000000002})
        add("constant " + std::to_string(graphs.size()), one_output({}, constant(value)));
    add("constant f64", one_output({}, constant(1, DType::f64)));
}

/// Each attribute with two values.
void add_attributes(Graphs& graphs) {
    const auto add = [&](const string& name, Graph graph) { graphs.emplace(name, graph); };
    for (const std::int64_t dimension : {0, 1}) {
        const string d = std::to_string(dimension);
        add("iota " + d, one_output({}, iota({DType::f32, {4, 4}}, dimension)));
        add("reverse " + d, of([&](auto& t) { return reverse(t, {dimension}); }));
        add("concatenate " + d, of([&](auto& t) { return concatenate({t, t}, dimension); }));
        add("reduce " + d, of([&](auto& t) { return reduce(t, {dimension}, Reduction::add); }));
        add("reduce maximum " + d,
            of([&](auto& t) { return reduce(t, {dimension}, Reduction::maximum); }));
        add("broadcast " + d, of([&](auto& t) {
                return broadcast_in_dim(t, {4, 4, 4}, {dimension, dimension + 1});
            }));
        add("transpose " + d, of([&](auto& t) {
                return transpose(t, {dimension, 1 - dimension});
            }));
        add("slice start " + d, of([&](auto& t) {
                return slice(t, {dimension, 0}, {dimension + 2, 4}, {1, 1});
            }));
        add("slice limit " + d, of([&](auto& t) {
                return slice(t, {0, 0}, {4, dimension + 3}, {1, 1});
            }));
        add("slice strides " + d, of([&](auto& t) {
                return slice(t, {0, 0}, {4, 1}, {1, dimension + 2});
            }));
        add("pad low " + d, of([&](auto& t) {
                return pad(t, 0, {{dimension, 1}, {9, 9}, {0, 0}});
            }));
        add("pad high " + d, of([&](auto& t) {
                return pad(t, 0, {{9, 9}, {dimension, 1}, {0, 0}});
            }));
        add("pad interior " + d, of([&](auto& t) {
                return pad(t, 0, {{9, 9}, {9, 9}, {dimension, 1}});
            }));
        add("pad value " + d, of([&](auto& t) {
                return pad(t, double(dimension), {{8, 8}, {8, 8}, {0, 0}});
            }));
        add("dot " + d, of([&](auto& t) { return dot_general(t, t, {{}, {}, {dimension}, {0}}); }));
        add("dot, other side " + d, of([&](auto& t) {
                return dot_general(t, t, {{}, {}, {0, 1}, {dimension, 1 - dimension}});
            }));
        add("dot, batched " + d, of([&](auto& t) {
                return dot_general(t, t, {{dimension}, {0}, {1 - dimension}, {1}});
            }));
    }
    for (const Comparison direction : {Comparison::eq, Comparison::ne, Comparison::lt,
                                       Comparison::le, Comparison::gt, Comparison::ge})
        add("compare " + std::to_string(int(direction)),
            of([&](auto& t) { return compare(t, t, direction); }));
    add("reshape", of([](auto& t) { return reshape(t, {16}); }));
    add("reshape otherwise", of([](auto& t) { return reshape(t, {2, 8}); }));
    add("convert", of([](auto& t) { return convert(t, DType::i32); }));
    add("convert otherwise", of([](auto& t) { return convert(t, DType::i64); }));
}

void add_windows(Graphs& graphs) {
    const std::vector<std::int64_t WindowDimension::*> fields{
        &WindowDimension::size,          &WindowDimension::stride,
        &WindowDimension::padding_low,   &WindowDimension::padding_high,
        &WindowDimension::base_dilation, &WindowDimension::window_dilation};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        WindowDimension window{.size = 2, .padding_low = 3, .padding_high = 3};
        window.*fields[i] += 1;
        graphs.emplace("window " + std::to_string(i), windowed(window));
    }
    const WindowDimension two{.size = 2};
    const ConvolutionAttributes plain{{two, two}, {}, {}, {}};
    graphs.emplace("convolution", convolved(plain));
    for (Dims ConvolutionAttributes::*layout :
         {&ConvolutionAttributes::input_layout, &ConvolutionAttributes::output_layout}) {
        ConvolutionAttributes changed = plain;
        changed.*layout = {1, 0, 2, 3};
        graphs.emplace("convolution " + std::to_string(graphs.size()), convolved(changed));
    }
    ConvolutionAttributes kernel_changed = plain;
    kernel_changed.kernel_layout = {1, 0, 2, 3};
    graphs.emplace("convolution, kernel layout", convolved(kernel_changed));
}

/// Attributes of ops with several results, of composites and of ops over all cores.
void add_larger_ops(Graphs& graphs) {
    const auto add = [&](const string& name, Graph graph) { graphs.emplace(name, graph); };
    const Tensor x = input();
    const Tensor ones = broadcast(constant(1), {4});
    for (const std::int64_t i : {0, 1}) {
        const string n = std::to_string(i);
        const BatchNorm norm = batch_norm_training(x, ones, ones, 0.5, i);
        add("batch norm " + n, one_output({x}, norm.y));
        add("batch norm, mean " + n, one_output({x}, norm.mean));
        add("batch norm, variance " + n, one_output({x}, norm.variance));
        add("gelu " + n, one_output({x}, gelu(x, i == 0)));
        add("dynamic_slice " + n,
            one_output({x}, dynamic_slice(x, {index(0), index(0)}, {1, 1 + i})));
        add("dynamic_slice, start " + n,
            one_output({x}, dynamic_slice(x, {index(i), index(1)}, {2, 2})));
    }
    add("batch norm, epsilon", one_output({x}, batch_norm_training(x, ones, ones, 0.25, 0).y));
    add("another composite", one_output({x}, softmax(x)));
    const Tensor narrow = input({4, 4}, DType::bf16);
    const DotAttributes rows{{}, {}, {1}, {1}};
    DotAttributes wide = rows;
    wide.result = DType::f32;
    add("bf16 product", one_output({narrow}, dot_general(narrow, narrow, rows)));
    add("bf16 product in f32", one_output({narrow}, dot_general(narrow, narrow, wide)));
}

Graphs graphs_that_differ() {
    Graphs graphs;
    add_larger_ops(graphs);
    add_structures(graphs);
    add_attributes(graphs);
    add_windows(graphs);
    return graphs;
}

// Goal: whatever changes the program changes the hash. Method: every pair of these graphs.
TEST(Hash, any_change_changes_it) {
    const Graphs graphs = graphs_that_differ();
    std::map<std::pair<std::uint64_t, std::uint64_t>, string> seen;
    for (const auto& [name, graph] : graphs) {
        const Hash128 hash = hash_of(graph);
        const auto [other, is_first] = seen.emplace(std::pair{hash.high, hash.low}, name);
        EXPECT_TRUE(is_first) << name << " hashes like " << other->second;
    }
}

TEST(Hash, equal_graphs_built_twice_are_equal) {
    const Graphs once = graphs_that_differ();
    const Graphs twice = graphs_that_differ();
    for (const auto& [name, graph] : once)
        EXPECT_EQ(hash_of(graph), hash_of(twice.at(name))) << name;
}

TEST(Hash, type_of_a_product_has_one_spelling) {
    const Tensor x = input();
    DotAttributes named{{}, {}, {1}, {1}};
    const Tensor unnamed = dot_general(x, x, named);
    named.result = DType::f32;
    EXPECT_EQ(dot_general(x, x, named).node().hash, unnamed.node().hash);
}

TEST(Hash, names_of_inputs_do_not_count) {
    const Tensor x = input({2}, DType::f32, Placement::replicated, "x");
    const Tensor renamed = input({2}, DType::f32, Placement::replicated, "weight");
    EXPECT_EQ(hash_of(one_output({x}, negate(x))), hash_of(one_output({renamed}, negate(renamed))));
}

TEST(Hash, spelling_of_equal_attributes_does_not_count) {
    const Tensor x = input();
    EXPECT_EQ(reduce(x, {1, 0}, Reduction::add).node().hash,
              reduce(x, {0, 1}, Reduction::add).node().hash);
    const Tensor image = input({1, 1, 4, 4});
    const Tensor kernel = input({1, 1, 2, 2});
    const WindowDimension two{.size = 2};
    const Dims plain{0, 1, 2, 3};
    EXPECT_EQ(convolution(image, kernel, {{two, two}, {}, {}, {}}).node().hash,
              convolution(image, kernel, {{two, two}, plain, plain, plain}).node().hash);
}

}    // namespace
}    // namespace slipway
