#include "executor/bench/flops.h"

namespace slipway {

namespace {

double dot_flops(const Node& node, const DotAttributes& dot) {
    double terms = 1;
    for (const std::int64_t i : dot.lhs_contracting)
        terms *= double(node.operands[0].dims()[std::size_t(i)]);
    return 2 * terms * double(node.shape.element_count());
}

double convolution_flops(const Node& node, const ConvolutionAttributes& convolution) {
    const Tensor& kernel = node.operands[1];
    const double outputs = double(kernel.dims()[std::size_t(convolution.kernel_layout[0])]);
    double terms = double(kernel.shape().element_count()) / outputs;
    for (const WindowDimension& window : convolution.window)
        terms /= double(window.base_dilation);
    return 2 * terms * double(node.shape.element_count()) / double(convolution.batch_groups);
}

double flops_of(const Node& node) {
    if (const auto* dot = std::get_if<DotAttributes>(&node.attributes))
        return dot_flops(node, *dot);
    if (const auto* convolution = std::get_if<ConvolutionAttributes>(&node.attributes))
        return convolution_flops(node, *convolution);
    return 0;
}

}    // namespace

double product_flops(const Graph& graph, int cores) {
    double flops = 0;
    for (const Tensor& tensor : topological_order(graph)) {
        const bool on_each = tensor.node().placement == Placement::per_core;
        flops += flops_of(tensor.node()) * (on_each ? cores : 1);
    }
    return flops;
}

}    // namespace slipway
