#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/error.h"
#include "executor/codegen/convolutions.h"
#include "executor/codegen/kernels/naive.h"
#include "executor/codegen/lowering.h"
#include "executor/codegen/onednn/matmul.h"

/// dot_general and convolution: primitives of the library, plain loops for what it does not take.
namespace slipway {

namespace {

void require_f32(const Tensor& tensor) {
    if (tensor.dtype() != DType::f32)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("products run in f32, not {}", to_string(tensor.dtype())));
}

Dims joined(Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Dims others(std::size_t rank, const Dims& taken) {
    Dims result;
    for (std::int64_t i = 0; i < std::int64_t(rank); ++i)
        if (std::ranges::count(taken, i) == 0) result.push_back(i);
    return result;
}

std::int64_t extent_of(const Dims& dims, const Dims& which) {
    std::int64_t extent = 1;
    for (const std::int64_t i : which)
        extent *= dims[std::size_t(i)];
    return extent;
}

/// One operand as three groups of its dimensions, in this order, each to become one dimension.
struct Factor {
    PlacedValue value;
    std::array<Dims, 3> groups;
};

/// The factor as [batch, rows, columns], copied only where no strides can say it.
PlacedValue as_matrices(Lowering& lowering, const Factor& factor, int stage) {
    const Dims& dims = factor.value.view.dims;
    const Dims order = joined(joined(factor.groups[0], factor.groups[1]), factor.groups[2]);
    const Dims matrices{extent_of(dims, factor.groups[0]), extent_of(dims, factor.groups[1]),
                        extent_of(dims, factor.groups[2])};
    PlacedValue value = factor.value;
    value.view = transposed_view(value.view, order);
    const std::optional<View> view = reshaped_view(value.view, matrices);
    if (view && is_matmul_operand(*view)) {
        value.view = *view;
        return value;
    }
    value = lowering.dense(value, stage);
    value.view = dense_view(matrices);
    return value;
}

}    // namespace

void lower_dot_general(Lowering& lowering, const Tensor& tensor) {
    require_f32(tensor);
    const auto& a = std::get<DotAttributes>(tensor.node().attributes);
    const int stage = lowering.facts(tensor).stage;
    const PlacedValue& x = lowering.value_of(tensor.node().operands[0]);
    const PlacedValue& y = lowering.value_of(tensor.node().operands[1]);
    const Dims x_free = others(x.view.dims.size(), joined(a.lhs_batching, a.lhs_contracting));
    const Dims y_free = others(y.view.dims.size(), joined(a.rhs_batching, a.rhs_contracting));
    const PlacedValue lhs =
        as_matrices(lowering, {x, {a.lhs_batching, x_free, a.lhs_contracting}}, stage);
    const PlacedValue rhs =
        as_matrices(lowering, {y, {a.rhs_batching, a.rhs_contracting, y_free}}, stage);
    auto kernel = make_matmul(lhs.view, rhs.view, lowering.workers());
    if (!kernel) kernel = LibraryKernel{make_naive_matmul(lhs.view, rhs.view), 0, "loops"};
    lowering.emit(stage, step_name("dot_general " + kernel->name, tensor.shape()), *kernel,
                  {lhs.buffer, rhs.buffer}, lowering.make_result(tensor));
}

namespace {

/// Emits the first way of computing the convolution that the library takes; false when it takes
/// none over these views.
bool emit_primitive(Lowering& lowering, const Tensor& tensor, const PlacedValue& input,
                    const PlacedValue& kernel) {
    const auto& attributes = std::get<ConvolutionAttributes>(tensor.node().attributes);
    for (const ConvolutionSpec& spec :
         convolution_specs(input.view, kernel.view, attributes, tensor.dims())) {
        const auto primitive = make_convolution(spec, lowering.workers());
        if (!primitive) continue;
        lowering.emit(lowering.facts(tensor).stage,
                      step_name("convolution " + primitive->name, tensor.shape()), *primitive,
                      {input.buffer, kernel.buffer}, lowering.make_result(tensor));
        return true;
    }
    return false;
}

}    // namespace

void lower_convolution(Lowering& lowering, const Tensor& tensor) {
    require_f32(tensor);
    const int stage = lowering.facts(tensor).stage;
    const PlacedValue& input = lowering.value_of(tensor.node().operands[0]);
    const PlacedValue& kernel = lowering.value_of(tensor.node().operands[1]);
    if (emit_primitive(lowering, tensor, input, kernel)) return;
    const PlacedValue dense_input = lowering.dense(input, stage);
    const PlacedValue dense_kernel = lowering.dense(kernel, stage);
    if (emit_primitive(lowering, tensor, dense_input, dense_kernel)) return;
    const auto& attributes = std::get<ConvolutionAttributes>(tensor.node().attributes);
    const LibraryKernel loops{
        make_naive_convolution(input.view.dims, kernel.view.dims, attributes, tensor.dims()), 0,
        "loops"};
    lowering.emit(stage, step_name("convolution loops", tensor.shape()), loops,
                  {dense_input.buffer, dense_kernel.buffer}, lowering.make_result(tensor));
}

}    // namespace slipway
