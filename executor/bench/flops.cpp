#include "executor/bench/flops.h"

#include "executor/codegen/product_parts.h"

namespace slipway {

namespace {

/// Pairs that meet in one matrix of the batch.
double pairs(const ProductPart& part) {
    return double(part.rows.count()) * double(part.columns.count()) * double(part.terms.count());
}

double dot_flops(const Tensor& tensor, const DotAttributes& dot,
                 const TriangularAnalysis& triangular) {
    double batch = 1;
    for (const std::int64_t i : dot.lhs_batching)
        batch *= double(tensor.node().operands[0].dims()[std::size_t(i)]);
    double flops = 0;
    for (const ProductPart& part : product_parts(tensor, triangular))
        flops += 2 * batch * pairs(part);
    return flops;
}

double convolution_flops(const Node& node, const ConvolutionAttributes& convolution) {
    const Tensor& kernel = node.operands[1];
    const double outputs = double(kernel.dims()[std::size_t(convolution.kernel_layout[0])]);
    double terms = double(kernel.shape().element_count()) / outputs;
    for (const WindowDimension& window : convolution.window)
        terms /= double(window.base_dilation);
    return 2 * terms * double(node.shape.element_count()) / double(convolution.batch_groups);
}

double flops_of(const Tensor& tensor, const TriangularAnalysis& triangular) {
    const Node& node = tensor.node();
    if (const auto* dot = std::get_if<DotAttributes>(&node.attributes))
        return dot_flops(tensor, *dot, triangular);
    if (const auto* convolution = std::get_if<ConvolutionAttributes>(&node.attributes))
        return convolution_flops(node, *convolution);
    return 0;
}

}    // namespace

double product_flops(const Graph& graph, int cores) {
    const TriangularAnalysis triangular = analyze_triangular(graph);
    double flops = 0;
    for (const Tensor& tensor : topological_order(graph)) {
        const bool on_each = tensor.node().placement == Placement::per_core;
        flops += flops_of(tensor, triangular) * (on_each ? cores : 1);
    }
    return flops;
}

}    // namespace slipway
