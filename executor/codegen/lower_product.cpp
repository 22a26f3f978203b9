#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "api/base/error.h"
#include "executor/codegen/kernels/naive.h"
#include "executor/codegen/lower_stacked.h"
#include "executor/codegen/lowering.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/onednn/sum_of_matmuls.h"
#include "executor/codegen/product_parts.h"
#include "executor/codegen/products.h"
#include "executor/codegen/together.h"

/// dot_general: a batched matrix product over views, by the library; plain loops for what it does
/// not take and for the tiny.
namespace slipway {

namespace {

// Up to here plain loops are faster than calling the library, which takes about a microsecond.
constexpr std::int64_t loop_terms_max = 1024;

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

Dims counted(std::size_t first, std::size_t count) {
    Dims result(count);
    for (std::size_t i = 0; i < count; ++i)
        result[i] = std::int64_t(first + i);
    return result;
}

Dims extents_of(const Dims& dims, const Dims& which) {
    Dims extents;
    for (const std::int64_t i : which)
        extents.push_back(dims[std::size_t(i)]);
    return extents;
}

std::int64_t product_of(const Dims& extents) {
    std::int64_t product = 1;
    for (const std::int64_t extent : extents)
        product *= extent;
    return product;
}

/// The dimensions of an operand or result by what they are in the product.
struct Groups {
    Dims batch, rows, columns;
};

/// A view as [batch..., rows, columns]: the batch dimensions one by one or as one. Nothing where no
/// strides can say it.
std::optional<View> as_matrices(const View& view, const Groups& groups, bool merges_batch) {
    const View sorted =
        transposed_view(view, joined(joined(groups.batch, groups.rows), groups.columns));
    Dims dims = extents_of(view.dims, groups.batch);
    if (merges_batch) dims = {product_of(dims)};
    dims.push_back(product_of(extents_of(view.dims, groups.rows)));
    dims.push_back(product_of(extents_of(view.dims, groups.columns)));
    return reshaped_view(sorted, dims);
}

View with_last_two_swapped(View view) {
    const std::size_t rank = view.dims.size();
    std::swap(view.dims[rank - 2], view.dims[rank - 1]);
    std::swap(view.strides[rank - 2], view.strides[rank - 1]);
    return view;
}

/// A dot_general node's operands and result.
struct Product {
    std::array<PlacedValue, 2> operands;
    std::array<Groups, 2> operand_groups;
    Groups result_groups;
    Dims result_dims;
};

Product product_of(Lowering& lowering, const Tensor& tensor) {
    const auto& a = std::get<DotAttributes>(tensor.node().attributes);
    const PlacedValue& x = lowering.value_of(tensor.node().operands[0]);
    const PlacedValue& y = lowering.value_of(tensor.node().operands[1]);
    const Dims x_free = others(x.view.dims.size(), joined(a.lhs_batching, a.lhs_contracting));
    const Dims y_free = others(y.view.dims.size(), joined(a.rhs_batching, a.rhs_contracting));
    const std::size_t batch = a.lhs_batching.size();
    return {.operands = {x, y},
            .operand_groups = {{{a.lhs_batching, x_free, a.lhs_contracting},
                                {a.rhs_batching, a.rhs_contracting, y_free}}},
            .result_groups = {counted(0, batch), counted(batch, x_free.size()),
                              counted(batch + x_free.size(), y_free.size())},
            .result_dims = tensor.dims()};
}

/// Where the result goes, in its own dims and as matrices.
struct ResultPlan {
    Dims order;
    View matrices;
    bool merges_batch = true;
    bool is_swapped = false;    ///< its columns lie as rows: the library computes the transposed
};

std::optional<ResultPlan> plan_result(const Product& product, const Dims& order,
                                      bool merges_batch) {
    const View view = ordered_view(product.result_dims, order);
    const auto matrices = as_matrices(view, product.result_groups, merges_batch);
    if (!matrices) return {};
    const std::size_t rank = matrices->dims.size();
    const bool by_rows = matrices->strides[rank - 1] == 1 || matrices->dims[rank - 1] == 1;
    const bool by_columns = matrices->strides[rank - 2] == 1 || matrices->dims[rank - 2] == 1;
    if (!by_rows && !by_columns) return {};
    return ResultPlan{order, *matrices, merges_batch, !by_rows};
}

/// The order its only user wants where the library can write it, else dense.
ResultPlan plan_result(const Product& product, const std::optional<Dims>& wanted,
                       bool merges_batch) {
    if (wanted)
        if (const auto plan = plan_result(product, *wanted, merges_batch)) return *plan;
    return *plan_result(product, row_major(product.result_dims.size()), merges_batch);
}

/// Operands as matrices; nothing in place of one that must be copied first.
std::array<std::optional<View>, 2> operand_matrices(const Product& product, bool merges_batch) {
    std::array<std::optional<View>, 2> views;
    for (std::size_t i = 0; i < 2; ++i) {
        views[i] = as_matrices(product.operands[i].view, product.operand_groups[i], merges_batch);
        if (views[i] && element_count(*views[i]) > 0 && !is_matmul_operand(*views[i]))
            views[i].reset();
    }
    return views;
}

/// Whether every side can have its batch dimensions as one.
bool merges_batch(const Product& product, const std::optional<Dims>& wanted) {
    if (product.result_groups.batch.size() < 2) return true;
    const auto apart = operand_matrices(product, false);
    const auto merged = operand_matrices(product, true);
    for (std::size_t i = 0; i < 2; ++i)
        if (apart[i] && !merged[i]) return false;
    return !wanted || !plan_result(product, *wanted, false) || plan_result(product, *wanted, true);
}

struct Operand {
    PlacedValue value;
    View matrices;
};

/// The dimensions as they lie, outermost first.
Dims order_by_stride(const View& view) {
    Dims order = row_major(view.dims.size());
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::int64_t i) { return view.strides[std::size_t(i)]; });
    return order;
}

/// Whether a part of a larger value, such as the queries of one product with keys and values, is to
/// be cut out: for bf16 with gaps between rows the library has but its slower kernel ("gemm").
/// Measured (bench/product_rates): 16x6 heads, 256 tokens of 64, 273 to 476 GFLOP/s with gaps, 328
/// to 666 without, of which the copy takes a fifth once for all products of a part.
bool pays_to_cut_out(const PlacedValue& value) {
    constexpr std::int64_t extent_min = 32;
    const View& view = value.view;
    return value.dtype == DType::bf16 && !order_of(view) && view.dims.size() > 1 &&
           element_count(view) >= extent_min * extent_min;
}

/// The part of matrices [batch..., rows, columns] between these.
View part_of(View matrices, const ProductPart::Range& rows, const ProductPart::Range& columns) {
    const std::size_t last = matrices.dims.size() - 1;
    matrices.offset += rows.first * matrices.strides[last - 1];
    matrices.offset += columns.first * matrices.strides[last];
    matrices.dims[last - 1] = rows.count();
    matrices.dims[last] = columns.count();
    return matrices;
}

MatmulSpec part_of(MatmulSpec spec, const ProductPart& part) {
    spec.lhs = part_of(spec.lhs, part.rows, part.terms);
    spec.rhs = part_of(spec.rhs, part.terms, part.columns);
    spec.result = part_of(spec.result, part.rows, part.columns);
    return spec;
}

/// The same product transposed: of the transposed operands the other way round.
MatmulSpec with_sides_swapped(const MatmulSpec& spec) {
    MatmulSpec swapped = spec;
    swapped.lhs = with_last_two_swapped(spec.rhs);
    swapped.rhs = with_last_two_swapped(spec.lhs);
    swapped.result = with_last_two_swapped(spec.result);
    return swapped;
}

Operand place_operand(Lowering& lowering, const Product& product, std::size_t i,
                      const std::optional<View>& matrices, bool merges_batch, int stage) {
    const PlacedValue& value = product.operands[i];
    if (matrices && !pays_to_cut_out(value)) return {value, *matrices};
    const Groups& groups = product.operand_groups[i];
    const Dims order = matrices ? order_by_stride(value.view)
                                : joined(joined(groups.batch, groups.rows), groups.columns);
    const PlacedValue copy = lowering.ordered(value, order, stage);
    return {copy, *as_matrices(copy.view, groups, merges_batch)};
}

/// Whether the library should have rhs in its own layout; in f32 it copies blocks of its own
/// accord. Measured on one thread of a machine with 48 KiB and 2 MiB of cache
/// (bench/product_rates):
///   weights that all cores share: a third faster when there are enough rows to pay for packing;
///   not when they exceed the caches
///   gradients of weights: a tenth faster when they have enough rows
bool pays_to_pack(const Lowering& lowering, const MatmulSpec& spec, const PlacedValue& rhs,
                  int stage) {
    if (spec.result.dims.size() != 3 || spec.result.dims[0] != 1) return false;
    if (spec.operands != DType::bf16) return false;
    constexpr std::int64_t bytes_max = 16 << 20;
    const std::int64_t m = spec.lhs.dims[1], k = spec.rhs.dims[1], n = spec.rhs.dims[2];
    if (k < 64 || n < 64 || k * n * std::int64_t(size_in_bytes(spec.operands)) > bytes_max)
        return false;
    if (lowering.is_shared(rhs, stage)) return m >= 512;
    return spec.lhs.strides[1] == 1 && m >= 768 && k >= 512 && k <= 1024;
}

LibraryKernel make_kernel(const MatmulSpec& spec, int workers) {
    const std::int64_t terms = product_of(spec.result.dims) * spec.lhs.dims.back();
    if (terms > loop_terms_max)
        if (auto kernel = make_matmul(spec, workers)) return std::move(*kernel);
    const ProductTypes types{spec.operands, spec.results};
    return {make_naive_matmul(spec.lhs, spec.rhs, spec.result, types), 0, "loops", {}};
}

/// Whether each core has so few rows that adding its product to what is there takes longer than the
/// multiplications, and they lie as they are stacked. Inside a step of a perceptron of
/// 784-512-256, ms of CPU time of both products, added up core by core / stacked:
///   8 cores of 16 rows  1.61  1.07    8 cores of 2 rows  0.77  0.43
/// In bf16 also of more rows, where the result is small: the library adds up products of 128 and
/// 256 rows by a slower kernel than the one it has for all rows at once. A step of BERT-small on
/// 8 cores of 2 workers, ms by the clock:
///   128 rows  34.98  33.57    256 rows  67.29  64.80    BERT-base (9 MB), 128 rows  724  730
bool pays_to_stack(const MatmulSpec& spec) {
    constexpr std::int64_t small_result_bytes = 4 << 20;
    const bool is_small =
        spec.operands == DType::bf16 &&
        product_of(spec.result.dims) * std::int64_t(size_in_bytes(spec.results)) <=
            small_result_bytes;
    const std::int64_t rows_max = is_small ? 256 : 64;
    const auto is_two = [](const View& view) { return view.dims.size() == 3 && view.dims[0] == 1; };
    if (!is_two(spec.lhs) || !is_two(spec.rhs) || !is_two(spec.result)) return false;
    return spec.rhs.dims[1] <= rows_max && is_dense(with_last_two_swapped(spec.lhs)) &&
           is_dense(spec.rhs) && is_dense(spec.result);
}

/// Copies what each core has, one after the other. Computes cores begin..end.
Kernel make_stack(std::int64_t bytes) {
    return [=](const KernelCall& call) {
        for (auto core = std::size_t(call.begin); core < std::size_t(call.end); ++core)
            std::memcpy(call.writes[0] + std::int64_t(core) * bytes, call.reads[core],
                        std::size_t(bytes));
    };
}

/// The product of all cores' rows. The right ones are copied one core's after the other's, the left
/// ones by the blocks that need them. Nothing done where the library does not take it.
bool lower_stacked(Lowering& lowering, const Tensor& tensor, const MatmulSpec& spec,
                   const std::vector<BufferId>& reads, const Dims& order) {
    const std::int64_t features = spec.lhs.dims[1], rows = spec.rhs.dims[1];
    const std::int64_t columns = spec.rhs.dims[2];
    const std::int64_t all_rows = lowering.batched_cores() * rows;
    auto product = make_stacked_product({.rows = all_rows,
                                         .features = features,
                                         .columns = columns,
                                         .left_cores = lowering.batched_cores(),
                                         .operands = spec.operands,
                                         .results = spec.results},
                                        {}, lowering.workers());
    if (!product) return false;
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    emit_stacked(lowering, tensor,
                 {.gather = make_stack(rows * columns * size),
                  .left = {},
                  .right = {spec.operands, {all_rows, columns}},
                  .product = std::move(*product)},
                 reads, {"rows", "dot_general"}, order);
    return true;
}

/// The product of all cores' rows; nothing done where an operand would have to be copied first.
bool lower_batched(Lowering& lowering, const Tensor& tensor, const Product& product) {
    const auto matrices = operand_matrices(product, true);
    if (!matrices[0] || !matrices[1]) return false;
    const ResultPlan result = plan_result(product, lowering.facts(tensor).wanted_order, true);
    MatmulSpec spec{.lhs = *matrices[0],
                    .rhs = *matrices[1],
                    .result = result.matrices,
                    .operands = product.operands[0].dtype,
                    .results = tensor.dtype()};
    std::vector<BufferId> reads{product.operands[0].buffer, product.operands[1].buffer};
    if (result.is_swapped) {
        spec = with_sides_swapped(spec);
        std::swap(reads[0], reads[1]);
    }
    if (lowering.batches_whole_blocks() && pays_to_stack(spec) &&
        lower_stacked(lowering, tensor, spec, reads, result.order))
        return true;
    std::optional<SumOfMatmuls> sum = make_sum_of_matmuls(spec, lowering.workers());
    if (!sum) return false;
    for (const BufferId operand : reads)
        lowering.keep(operand);
    const int stage = lowering.facts(tensor).stage;
    Step step = lowering.library_step(
        stage, step_name("dot_general of all cores " + sum->kernel.name, tensor.shape()),
        sum->kernel, std::move(reads), lowering.make_result(tensor, result.order));
    step.elements = sum->elements;
    step.batches_cores = true;
    lowering.emit(stage, std::move(step));
    return true;
}

/// One kernel after the other, over the same buffers and the same scratch memory.
LibraryKernel in_turn(std::vector<LibraryKernel> kernels) {
    if (kernels.size() == 1) return std::move(kernels.front());
    LibraryKernel all{.kernel = {},
                      .scratch_bytes = 0,
                      .name = fmt::format("{} in {} parts", kernels.front().name, kernels.size()),
                      .packing = {}};
    for (const LibraryKernel& kernel : kernels)
        all.scratch_bytes = std::max(all.scratch_bytes, kernel.scratch_bytes);
    all.kernel = [kernels = std::move(kernels)](const KernelCall& call) {
        for (const LibraryKernel& kernel : kernels)
            kernel.kernel(call);
    };
    return all;
}

/// What multiplies the rows of all replicas of a block, or nothing; the scratch memory is made
/// large enough for both. What the caller gives each core is copied: the cores' rows lie apart.
Kernel make_kernel_together(Lowering& lowering, const Tensor& tensor, const MatmulSpec& spec,
                            Operand& lhs, LibraryKernel& alone) {
    const int stage = lowering.facts(tensor).stage;
    if (alone.packing || !pays_together(spec) ||
        !lowering.may_run_together(stage, {lowering.value_of(tensor)}))
        return {};
    if (lowering.region_of(lhs.value.buffer) == Region::input &&
        lhs.value.placement == Placement::per_core)
        lhs.value = lowering.held(lhs.value, stage);
    if (!lowering.may_run_together(stage, {lhs.value})) return {};
    if (lowering.only_plans()) return [](const KernelCall&) {};
    auto together = make_together(spec, alone, lowering.replicas_together(), lowering.workers());
    if (!together) return {};
    alone.scratch_bytes = std::max(alone.scratch_bytes, together->scratch_bytes);
    return std::move(together->kernel);
}

}    // namespace

ProductTypes product_types(const Tensor& tensor) {
    const ProductTypes types{tensor.node().operands[0].dtype(), tensor.dtype()};
    for (const DType dtype : {types.operands, types.results})
        if (dtype != DType::f32 && dtype != DType::bf16)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("products run in f32 and bf16, not {}", to_string(dtype)));
    return types;
}

void lower_dot_general(Lowering& lowering, const Tensor& tensor) {
    const ProductTypes types = product_types(tensor);
    const Product product = product_of(lowering, tensor);
    if (lowering.facts(tensor).is_batched) {
        if (lower_batched(lowering, tensor, product)) return;
        lowering.unbatch(tensor);
    }
    const int stage = lowering.facts(tensor).stage;
    const std::optional<Dims> wanted = lowering.facts(tensor).wanted_order;
    const bool merges = merges_batch(product, wanted);
    const ResultPlan result = plan_result(product, wanted, merges);
    const auto matrices = operand_matrices(product, merges);
    Operand lhs = place_operand(lowering, product, 0, matrices[0], merges, stage);
    Operand rhs = place_operand(lowering, product, 1, matrices[1], merges, stage);
    const MatmulSpec spec{.lhs = lhs.matrices,
                          .rhs = rhs.matrices,
                          .result = result.matrices,
                          .operands = types.operands,
                          .results = types.results};
    if (result.is_swapped) std::swap(lhs, rhs);
    const std::vector<ProductPart> parts = product_parts(tensor, lowering.triangular());
    std::vector<LibraryKernel> kernels;
    for (const ProductPart& part : parts) {
        MatmulSpec piece = part_of(spec, part);
        if (result.is_swapped) piece = with_sides_swapped(piece);
        piece.packs_rhs = parts.size() == 1 && pays_to_pack(lowering, piece, rhs.value, stage);
        kernels.push_back(make_kernel(piece, lowering.workers()));
    }
    LibraryKernel kernel = in_turn(std::move(kernels));
    const BufferId weights =
        kernel.packing ? lowering.packed(rhs.value, *kernel.packing, stage) : rhs.value.buffer;
    const BufferId made = lowering.make_result(tensor, result.order);
    Kernel together;
    if (parts.size() == 1 && rhs.value.placement == Placement::replicated)
        together = make_kernel_together(
            lowering, tensor, result.is_swapped ? with_sides_swapped(spec) : spec, lhs, kernel);
    Step step =
        lowering.library_step(stage, step_name("dot_general " + kernel.name, tensor.shape()),
                              kernel, {lhs.value.buffer, weights}, made);
    step.together = std::move(together);
    lowering.emit(stage, std::move(step));
}

}    // namespace slipway
