#include "executor/codegen/onednn/convolution.h"

#include <algorithm>

#include "executor/codegen/onednn/primitive.h"
#include "executor/codegen/onednn/widened.h"

// A plan is asked for twice, with our layout and with the library's, and the better rank wins: a
// kernel made for this machine, one that goes through a matrix product, or a reference loop. The
// library's own layout costs a reorder of the images, so it comes second unless is_better_blocked
// knows that it pays. bf16 without a kernel of its own is widened to f32 and rounded once.
namespace slipway {

namespace {

using onednn::Desc;
using onednn::LibraryDims;
using onednn::Operand;

using Type = dnnl::memory::data_type;
constexpr auto any = dnnl::memory::format_tag::any;

constexpr auto direct = dnnl::algorithm::convolution_direct;

/// One of x, w, y: as it lies, and as the primitive is asked for it.
struct Side {
    Desc plain, asked;
    std::int64_t offset = 0;
};

/// The forward problem as the library's descriptors.
struct Problem {
    const ConvolutionSpec& spec;
    Side x, w, y;
    LibraryDims dilations;    ///< 0 = none

    Operand operand(int argument, const Side& side, const Desc& wanted) const {
        return {argument, side.offset, side.plain, wanted, spec.packs_weights && &side == &w};
    }
};

/// The library knows ungrouped weights without the dimension of groups, and is faster then.
View without_single_group(View w) {
    if (w.dims[0] != 1) return w;
    w.dims.erase(w.dims.begin());
    w.strides.erase(w.strides.begin());
    return w;
}

/// Strides of extents 1 carry no meaning; those of repeated or reversed dimensions do.
bool is_usable(const View& view) {
    if (element_count(view) == 0) return false;
    for (std::size_t i = 0; i < view.dims.size(); ++i)
        if (view.dims[i] != 1 && view.strides[i] < 1) return false;
    return true;
}

View with_positive_strides(View view) {
    for (std::size_t i = 0; i < view.dims.size(); ++i)
        if (view.dims[i] == 1) view.strides[i] = std::max<std::int64_t>(1, view.strides[i]);
    return view;
}

/// n, spatial..., c.
View channels_last(const View& view) {
    Dims order{0};
    for (std::size_t i = 2; i < view.dims.size(); ++i)
        order.push_back(std::int64_t(i));
    order.push_back(1);
    View last = ordered_view(view.dims, order);
    last.offset = view.offset;
    return last;
}

/// With `keeps_layout`, channels-last images are asked for as they lie; all else is free.
Side image_side(const View& view, Type type, bool keeps_layout) {
    const View last = channels_last(view);
    const bool is_last = same_places(view, last);
    const Desc plain = onednn::desc_of(is_last ? last : with_positive_strides(view), type);
    return {plain, is_last && keeps_layout ? plain : Desc(view.dims, type, any), view.offset};
}

Side weights_side(const View& view, Type type) {
    const View w = with_positive_strides(without_single_group(view));
    return {onednn::desc_of(w, type), Desc(w.dims, type, any), w.offset};
}

/// The types by role: the unknown has the result's.
struct Types {
    Type x, w, y;
};

std::optional<Types> types_of(const ConvolutionSpec& spec) {
    const auto operands = onednn::data_type_of(spec.operands);
    const auto results = onednn::data_type_of(spec.results);
    if (!operands || !results) return {};
    Types types{*operands, *operands, *operands};
    switch (spec.kind) {
        case ConvolutionKind::forward:
            types.y = *results;
            break;
        case ConvolutionKind::backward_data:
            types.x = *results;
            break;
        case ConvolutionKind::backward_weights:
            types.w = *results;
            break;
    }
    return types;
}

Problem problem_of(const ConvolutionSpec& spec, const Types& types, bool keeps_layout) {
    LibraryDims dilations = spec.dilations;
    for (auto& dilation : dilations)
        dilation -= 1;
    return {.spec = spec,
            .x = image_side(spec.x, types.x, keeps_layout),
            .w = weights_side(spec.w, types.w),
            .y = image_side(spec.y, types.y, keeps_layout),
            .dilations = dilations};
}

dnnl::convolution_forward::primitive_desc forward_plan(const Problem& p, Type result,
                                                       const dnnl::engine& engine) {
    // The hint of a backward primitive computes in the operands' type throughout.
    const auto as = [&](Desc desc, Type type) {
        desc.data.data_type = dnnl::memory::convert_to_c(type);
        return desc;
    };
    const Type operand = *onednn::data_type_of(p.spec.operands);
    return {{dnnl::prop_kind::forward_training, direct, as(p.x.asked, operand),
             as(p.w.asked, operand), as(p.y.asked, result), p.spec.strides, p.dilations,
             p.spec.padding_low, p.spec.padding_high},
            onednn::plan_owned_scratchpad(),
            engine};
}

LibraryKernel make_forward(const Problem& p, const dnnl::engine& engine, int workers) {
    const auto plan = forward_plan(p, *onednn::data_type_of(p.spec.results), engine);
    return onednn::assemble({.engine = engine,
                             .primitive = dnnl::convolution_forward(plan),
                             .reads = {p.operand(DNNL_ARG_SRC, p.x, plan.src_desc()),
                                       p.operand(DNNL_ARG_WEIGHTS, p.w, plan.weights_desc())},
                             .result = p.operand(DNNL_ARG_DST, p.y, plan.dst_desc()),
                             .scratchpad = plan.scratchpad_desc()},
                            workers, plan.impl_info_str());
}

LibraryKernel make_backward_data(const Problem& p, const dnnl::engine& engine, int workers) {
    const dnnl::convolution_backward_data::primitive_desc plan(
        {direct, p.x.asked, p.w.asked, p.y.asked, p.spec.strides, p.dilations, p.spec.padding_low,
         p.spec.padding_high},
        onednn::plan_owned_scratchpad(), engine,
        forward_plan(p, *onednn::data_type_of(p.spec.operands), engine));
    return onednn::assemble({.engine = engine,
                             .primitive = dnnl::convolution_backward_data(plan),
                             .reads = {p.operand(DNNL_ARG_DIFF_DST, p.y, plan.diff_dst_desc()),
                                       p.operand(DNNL_ARG_WEIGHTS, p.w, plan.weights_desc())},
                             .result = p.operand(DNNL_ARG_DIFF_SRC, p.x, plan.diff_src_desc()),
                             .scratchpad = plan.scratchpad_desc()},
                            workers, plan.impl_info_str());
}

LibraryKernel make_backward_weights(const Problem& p, const dnnl::engine& engine, int workers) {
    const dnnl::convolution_backward_weights::primitive_desc plan(
        {direct, p.x.asked, p.w.asked, p.y.asked, p.spec.strides, p.dilations, p.spec.padding_low,
         p.spec.padding_high},
        onednn::plan_owned_scratchpad(), engine,
        forward_plan(p, *onednn::data_type_of(p.spec.operands), engine));
    return onednn::assemble(
        {.engine = engine,
         .primitive = dnnl::convolution_backward_weights(plan),
         .reads = {p.operand(DNNL_ARG_SRC, p.x, plan.src_desc()),
                   p.operand(DNNL_ARG_DIFF_DST, p.y, plan.diff_dst_desc())},
         .result = p.operand(DNNL_ARG_DIFF_WEIGHTS, p.w, plan.diff_weights_desc()),
         .scratchpad = plan.scratchpad_desc()},
        workers, plan.impl_info_str());
}

LibraryKernel make_kind(const Problem& problem, const dnnl::engine& engine, int workers) {
    switch (problem.spec.kind) {
        case ConvolutionKind::forward:
            return make_forward(problem, engine, workers);
        case ConvolutionKind::backward_data:
            return make_backward_data(problem, engine, workers);
        case ConvolutionKind::backward_weights:
            break;
    }
    return make_backward_weights(problem, engine, workers);
}

/// Forward f32 over rows of up to 4 results: channels-last kernels take few rows at a time there
/// and reach 50 to 110 of the 150 to 230 GFLOP/s of blocked ones (bench/product_rates).
bool is_better_blocked(const ConvolutionSpec& spec) {
    constexpr std::int64_t short_row = 4, many_terms = 512;
    const std::int64_t terms = element_count(spec.w) / (spec.w.dims[0] * spec.w.dims[1]);
    return spec.kind == ConvolutionKind::forward && spec.operands == DType::f32 &&
           spec.strides.size() == 2 && spec.y.dims.back() <= short_row && terms >= many_terms;
}

std::optional<LibraryKernel> make_exact(const ConvolutionSpec& spec, int workers) {
    const std::size_t spatial = spec.strides.size();
    if (spatial < 1 || spatial > 3) return {};
    if (!is_usable(spec.x) || !is_usable(spec.w) || !is_usable(spec.y)) return {};
    const auto is_negative = [](std::int64_t padding) { return padding < 0; };
    if (std::ranges::any_of(spec.padding_low, is_negative)) return {};
    for (std::size_t i = 0; i < spatial; ++i)
        if (spec.padding_high[i] + spec.strides[i] < 1) return {};
    const std::optional<Types> types = types_of(spec);
    if (!types) return {};
    // Layouts of the library's choice cost a reorder of the images: only where it has no kernel
    // made for the machine otherwise, or a far better one.
    const bool keeps_first = !is_better_blocked(spec);
    std::optional<LibraryKernel> best;
    for (const bool keeps_layout : {keeps_first, !keeps_first}) {
        auto kernel = onednn::make_single_threaded(
            [&](const dnnl::engine& engine) -> std::optional<LibraryKernel> {
                return make_kind(problem_of(spec, *types, keeps_layout), engine, workers);
            });
        if (!kernel) continue;
        const int rank = onednn::rank_of(kernel->name);
        if (rank == 2) return kernel;
        if (!best || rank > onednn::rank_of(best->name)) best = std::move(kernel);
    }
    return best;
}

/// What the kernel reads and writes.
onednn::ProductViews views_of(const ConvolutionSpec& spec) {
    switch (spec.kind) {
        case ConvolutionKind::forward:
            return {{spec.x, spec.w}, spec.y};
        case ConvolutionKind::backward_data:
            return {{spec.y, spec.w}, spec.x};
        case ConvolutionKind::backward_weights:
            break;
    }
    return {{spec.x, spec.y}, spec.w};
}

}    // namespace

std::optional<LibraryKernel> make_convolution(const ConvolutionSpec& spec, int workers) {
    auto kernel = make_exact(spec, workers);
    if (kernel || spec.operands != DType::bf16) return kernel;
    ConvolutionSpec wide = spec;
    wide.operands = wide.results = DType::f32;
    wide.packs_weights = false;
    kernel = make_exact(wide, workers);
    if (kernel) kernel = onednn::widened(*kernel, views_of(spec), spec.results);
    return kernel;
}

}    // namespace slipway
