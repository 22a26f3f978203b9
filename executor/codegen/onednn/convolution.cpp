#include "executor/codegen/onednn/convolution.h"

#include <algorithm>

#include "executor/codegen/onednn/primitive.h"

namespace slipway {

namespace {

using onednn::Desc;
using onednn::LibraryDims;
using onednn::Operand;

constexpr auto f32 = dnnl::memory::data_type::f32;
constexpr auto any = dnnl::memory::format_tag::any;
constexpr auto direct = dnnl::algorithm::convolution_direct;

/// The forward problem as the library's descriptors: as the values lie, and with free layouts.
struct Problem {
    Desc x, w, y;
    Desc free_x, free_w, free_y;
    LibraryDims strides, dilations, padding_low, padding_high;
};

Desc plain_desc(const View& view) {
    return {view.dims, f32, view.strides};
}

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

Problem problem_of(const ConvolutionSpec& spec) {
    const View x = with_positive_strides(spec.x);
    const View w = with_positive_strides(without_single_group(spec.w));
    const View y = with_positive_strides(spec.y);
    LibraryDims dilations = spec.dilations;
    for (auto& dilation : dilations)
        dilation -= 1;
    return {.x = plain_desc(x),
            .w = plain_desc(w),
            .y = plain_desc(y),
            .free_x = {x.dims, f32, any},
            .free_w = {w.dims, f32, any},
            .free_y = {y.dims, f32, any},
            .strides = spec.strides,
            .dilations = dilations,
            .padding_low = spec.padding_low,
            .padding_high = spec.padding_high};
}

dnnl::convolution_forward::primitive_desc forward_plan(const Problem& p,
                                                       const dnnl::engine& engine) {
    return {{dnnl::prop_kind::forward_training, direct, p.free_x, p.free_w, p.free_y, p.strides,
             p.dilations, p.padding_low, p.padding_high},
            onednn::plan_owned_scratchpad(),
            engine};
}

LibraryKernel make_forward(const ConvolutionSpec& spec, const Problem& p,
                           const dnnl::engine& engine, int workers) {
    const auto plan = forward_plan(p, engine);
    return onednn::assemble({.engine = engine,
                             .primitive = dnnl::convolution_forward(plan),
                             .reads = {{DNNL_ARG_SRC, spec.x.offset, p.x, plan.src_desc()},
                                       {DNNL_ARG_WEIGHTS, spec.w.offset, p.w, plan.weights_desc()}},
                             .result = {DNNL_ARG_DST, spec.y.offset, p.y, plan.dst_desc()},
                             .scratchpad = plan.scratchpad_desc()},
                            workers, plan.impl_info_str());
}

LibraryKernel make_backward_data(const ConvolutionSpec& spec, const Problem& p,
                                 const dnnl::engine& engine, int workers) {
    const dnnl::convolution_backward_data::primitive_desc plan(
        {direct, p.free_x, p.free_w, p.free_y, p.strides, p.dilations, p.padding_low,
         p.padding_high},
        onednn::plan_owned_scratchpad(), engine, forward_plan(p, engine));
    return onednn::assemble(
        {.engine = engine,
         .primitive = dnnl::convolution_backward_data(plan),
         .reads = {{DNNL_ARG_DIFF_DST, spec.y.offset, p.y, plan.diff_dst_desc()},
                   {DNNL_ARG_WEIGHTS, spec.w.offset, p.w, plan.weights_desc()}},
         .result = {DNNL_ARG_DIFF_SRC, spec.x.offset, p.x, plan.diff_src_desc()},
         .scratchpad = plan.scratchpad_desc()},
        workers, plan.impl_info_str());
}

LibraryKernel make_backward_weights(const ConvolutionSpec& spec, const Problem& p,
                                    const dnnl::engine& engine, int workers) {
    const dnnl::convolution_backward_weights::primitive_desc plan(
        {direct, p.free_x, p.free_w, p.free_y, p.strides, p.dilations, p.padding_low,
         p.padding_high},
        onednn::plan_owned_scratchpad(), engine, forward_plan(p, engine));
    return onednn::assemble(
        {.engine = engine,
         .primitive = dnnl::convolution_backward_weights(plan),
         .reads = {{DNNL_ARG_SRC, spec.x.offset, p.x, plan.src_desc()},
                   {DNNL_ARG_DIFF_DST, spec.y.offset, p.y, plan.diff_dst_desc()}},
         .result = {DNNL_ARG_DIFF_WEIGHTS, spec.w.offset, p.w, plan.diff_weights_desc()},
         .scratchpad = plan.scratchpad_desc()},
        workers, plan.impl_info_str());
}

}    // namespace

std::optional<LibraryKernel> make_convolution(const ConvolutionSpec& spec, int workers) {
    const std::size_t spatial = spec.strides.size();
    if (spatial < 1 || spatial > 3) return {};
    if (!is_usable(spec.x) || !is_usable(spec.w) || !is_usable(spec.y)) return {};
    const auto is_negative = [](std::int64_t padding) { return padding < 0; };
    if (std::ranges::any_of(spec.padding_low, is_negative)) return {};
    for (std::size_t i = 0; i < spatial; ++i)
        if (spec.padding_high[i] + spec.strides[i] < 1) return {};
    return onednn::make_single_threaded([&](const dnnl::engine& engine) {
        const Problem problem = problem_of(spec);
        switch (spec.kind) {
            case ConvolutionKind::forward:
                return make_forward(spec, problem, engine, workers);
            case ConvolutionKind::backward_data:
                return make_backward_data(spec, problem, engine, workers);
            case ConvolutionKind::backward_weights:
                break;
        }
        return make_backward_weights(spec, problem, engine, workers);
    });
}

}    // namespace slipway
