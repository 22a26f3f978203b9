#include "executor/codegen/onednn/matmul.h"

#include "executor/codegen/kernels/line_product.h"
#include "executor/codegen/kernels/small_product.h"
#include "executor/codegen/onednn/gemm.h"
#include "executor/codegen/onednn/matmul_views.h"
#include "executor/codegen/onednn/primitive.h"
#include "executor/codegen/onednn/widened.h"

namespace slipway {

bool is_matmul_operand(const View& view) {
    return onednn::usable_view(view).has_value();
}

bool copies_operands(const MatmulSpec& spec) {
    if (spec.operands != DType::f32 || spec.results != DType::f32) return false;
    const auto views = onednn::usable_views(spec);
    return views && views->lhs.dims.size() == 2;
}

namespace {

using onednn::Desc;

constexpr std::size_t rank_max = 6;

/// Whether the library's routine, too, would add the terms of each result in their order, so that
/// a version with and one without small products have the same bits. It does not where it takes
/// lines of both operands as vectors (few rows), and not of lines far apart (gemm.cpp).
bool sums_as_small_product(const onednn::MatmulViews& views) {
    const auto& [lhs, rhs, result] = views;
    const std::int64_t rows = result.dims[0], terms = lhs.dims[1];
    const bool takes_lines = lhs.strides[1] == 1 && rhs.strides[1] != 1 && rows < 16;
    const bool is_far = lhs.strides[1] >= 1024 && terms > 128;
    return !takes_lines && !is_far && is_small_product(rows, result.dims[1], terms);
}

LibraryKernel small_product(const onednn::MatmulViews& views, bool adds) {
    const SmallProduct product{
        .lhs = views.lhs, .rhs = views.rhs, .result = views.result, .adds = adds};
    const auto run = [product](const KernelCall& call) {
        product.multiply(reinterpret_cast<const float*>(call.reads[0]),
                         reinterpret_cast<const float*>(call.reads[1]),
                         reinterpret_cast<float*>(call.writes[0]));
    };
    return {.kernel = run, .scratch_bytes = 0, .name = "small_product", .packing = {}};
}

std::optional<LineProduct> line_product(const onednn::MatmulViews& views, const MatmulSpec& spec) {
    const LineProduct product{.lhs = views.lhs,
                              .rhs = views.rhs,
                              .result = views.result,
                              .operands = spec.operands,
                              .results = spec.results,
                              .adds = spec.adds};
    if (views.lhs.dims.size() != 2 || !product.is_possible()) return {};
    return product;
}

LibraryKernel kernel_of(const LineProduct& product) {
    const auto run = [product](const KernelCall& call) {
        product.multiply(call.reads[0], call.reads[1], call.writes[0]);
    };
    return {.kernel = run, .scratch_bytes = 0, .name = "line_product", .packing = {}};
}

std::optional<LibraryKernel> make_exact(const MatmulSpec& spec, int workers) {
    const std::size_t rank = spec.result.dims.size();
    const auto operand_type = onednn::data_type_of(spec.operands);
    const auto result_type = onednn::data_type_of(spec.results);
    if (rank < 2 || rank > rank_max || !operand_type || !result_type) return {};
    const auto views = onednn::usable_views(spec);
    if (!views) return {};
    if (const auto lines = line_product(*views, spec); lines && lines->pays())
        return kernel_of(*lines);
    const auto& [lhs, rhs, result] = *views;
    if (copies_operands(spec))
        return sums_as_small_product(*views) ? small_product(*views, spec.adds)
                                             : onednn::make_gemm(lhs, rhs, result, spec.adds);
    return onednn::make_single_threaded(
        [&](const dnnl::engine& engine) -> std::optional<LibraryKernel> {
            const Desc a = onednn::desc_of(lhs, *operand_type);
            const Desc b = onednn::desc_of(rhs, *operand_type);
            const Desc c = onednn::desc_of(result, *result_type);
            const Desc free_b(rhs.dims, *operand_type, dnnl::memory::format_tag::any);
            dnnl::primitive_attr attributes = onednn::plan_owned_scratchpad();
            if (spec.adds) {
                dnnl::post_ops after;
                after.append_sum();
                attributes.set_post_ops(after);
            }
            const dnnl::matmul::primitive_desc plan(
                dnnl::matmul::desc(a, spec.packs_rhs ? free_b : b, c), attributes, engine);
            if (onednn::rank_of(plan.impl_info_str()) == 0) return {};
            return onednn::assemble(
                {.engine = engine,
                 .primitive = dnnl::matmul(plan),
                 .reads = {{DNNL_ARG_SRC, lhs.offset, a, a},
                           {DNNL_ARG_WEIGHTS, rhs.offset, b, plan.weights_desc(), spec.packs_rhs}},
                 .result = {DNNL_ARG_DST, result.offset, c, c},
                 .scratchpad = plan.scratchpad_desc()},
                workers, plan.impl_info_str());
        });
}

}    // namespace

bool multiplies_bf16_in_tiles() {
    return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx;
}

bool multiplies_bf16() {
    const View square = dense_view({1, 1});
    static const bool does = make_exact({.lhs = square,
                                         .rhs = square,
                                         .result = square,
                                         .operands = DType::bf16,
                                         .results = DType::f32},
                                        1)
                                 .has_value();
    return does;
}

std::optional<LibraryKernel> make_line_product(const MatmulSpec& spec) {
    const auto views = onednn::usable_views(spec);
    if (!views) return {};
    const auto lines = line_product(*views, spec);
    return lines ? std::optional(kernel_of(*lines)) : std::nullopt;
}

std::optional<LibraryKernel> make_matmul(const MatmulSpec& spec, int workers) {
    auto kernel = make_exact(spec, workers);
    if (kernel || spec.operands != DType::bf16 || spec.adds) return kernel;
    MatmulSpec wide = spec;
    wide.operands = wide.results = DType::f32;
    wide.packs_rhs = false;
    kernel = make_exact(wide, workers);
    if (kernel)
        kernel = onednn::widened(*kernel, {{spec.lhs, spec.rhs}, spec.result}, spec.results);
    return kernel;
}

}    // namespace slipway
