#include "executor/codegen/onednn/matmul.h"

#include <algorithm>

#include "executor/codegen/onednn/gemm.h"
#include "executor/codegen/onednn/primitive.h"
#include "executor/codegen/onednn/widened.h"

namespace slipway {

namespace {

using onednn::Desc;
using onednn::Operand;

constexpr std::size_t rank_max = 6;

/// Strides as the library wants them: those of extents 1 carry no meaning, so they get one that
/// fits. Nothing when it would refuse or be slow.
std::optional<View> usable_view(const View& view) {
    if (element_count(view) == 0) return {};
    if (const std::optional<Dims> order = order_of({view.dims, view.strides, 0}); order) {
        View usable = ordered_view(view.dims, *order);
        usable.offset = view.offset;
        if (usable.strides.back() == 1 || *(usable.strides.end() - 2) == 1) return usable;
    }
    View usable = view;
    const std::size_t rows = view.dims.size() - 2, columns = rows + 1;
    const Dims& dims = usable.dims;
    Dims& strides = usable.strides;
    if (dims[rows] == 1)
        strides[rows] = strides[columns] == 1 || dims[columns] == 1 ? dims[columns] : 1;
    if (dims[columns] == 1)
        strides[columns] = strides[rows] == 1 && dims[rows] != 1 ? dims[rows] : 1;
    const bool by_rows = strides[columns] == 1 && strides[rows] >= dims[columns];
    const bool by_columns = strides[rows] == 1 && strides[columns] >= dims[rows];
    if (!by_rows && !by_columns) return {};
    for (std::size_t i = rows; i-- > 0;) {
        if (dims[i] == 1)
            strides[i] = i + 1 == rows ? std::max(strides[rows] * dims[rows],
                                                  strides[columns] * dims[columns])
                                       : strides[i + 1] * dims[i + 1];
        if (strides[i] < 1) return {};
    }
    return usable;
}

bool is_batch_of_one(const MatmulSpec& spec) {
    return spec.result.dims.size() == 3 && spec.result.dims[0] == 1;
}

/// Usable views of a product's sides. A batch of one matrix becomes that matrix: the library packs
/// no other.
std::optional<View> usable_side(const MatmulSpec& spec, View view) {
    if (!is_batch_of_one(spec)) return usable_view(view);
    view.dims.erase(view.dims.begin());
    view.strides.erase(view.strides.begin());
    return usable_view(view);
}

/// A result must lie by rows.
bool is_usable_result(const View& view) {
    return view.strides.back() == 1 || view.dims.back() == 1;
}

}    // namespace

bool is_matmul_operand(const View& view) {
    return usable_view(view).has_value();
}

bool copies_operands(const MatmulSpec& spec) {
    if (spec.operands != DType::f32 || spec.results != DType::f32) return false;
    const std::optional<View> lhs = usable_side(spec, spec.lhs);
    return lhs && lhs->dims.size() == 2;
}

namespace {

std::optional<LibraryKernel> make_exact(const MatmulSpec& spec, int workers) {
    const std::size_t rank = spec.result.dims.size();
    const auto operand_type = onednn::data_type_of(spec.operands);
    const auto result_type = onednn::data_type_of(spec.results);
    if (rank < 2 || rank > rank_max || !operand_type || !result_type) return {};
    const std::optional<View> lhs = usable_side(spec, spec.lhs);
    const std::optional<View> rhs = usable_side(spec, spec.rhs);
    const std::optional<View> result = usable_side(spec, spec.result);
    if (!lhs || !rhs || !result || !is_usable_result(*result)) return {};
    if (copies_operands(spec)) return onednn::make_gemm(*lhs, *rhs, *result, spec.adds);
    return onednn::make_single_threaded(
        [&](const dnnl::engine& engine) -> std::optional<LibraryKernel> {
            const Desc a = onednn::desc_of(*lhs, *operand_type);
            const Desc b = onednn::desc_of(*rhs, *operand_type);
            const Desc c = onednn::desc_of(*result, *result_type);
            const Desc free_b(rhs->dims, *operand_type, dnnl::memory::format_tag::any);
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
                 .reads = {{DNNL_ARG_SRC, lhs->offset, a, a},
                           {DNNL_ARG_WEIGHTS, rhs->offset, b, plan.weights_desc(), spec.packs_rhs}},
                 .result = {DNNL_ARG_DST, result->offset, c, c},
                 .scratchpad = plan.scratchpad_desc()},
                workers, plan.impl_info_str());
        });
}

}    // namespace

bool multiplies_bf16_in_tiles() {
    return dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx512_core_amx;
}

std::optional<Kernel> make_sum_of_matmuls(const MatmulSpec& spec) {
    if (!copies_operands(spec)) return {};
    const std::optional<View> lhs = usable_side(spec, spec.lhs);
    const std::optional<View> rhs = usable_side(spec, spec.rhs);
    const std::optional<View> result = usable_side(spec, spec.result);
    if (!lhs || !rhs || !result || !is_usable_result(*result)) return {};
    return onednn::make_gemm_of_many(*lhs, *rhs, *result);
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
