#include "executor/codegen/kernels/reduce.h"

#include <algorithm>
#include <array>
#include <memory>

#include "executor/codegen/kernels/reduction.h"

namespace slipway {

namespace {

constexpr std::int64_t lanes = 32;

/// The reduction of n elements `step` apart: lane by lane, then the lanes pairwise.
template <Reduction reduction, class T>
T reduce_row(const T* from, std::int64_t step, std::int64_t n) {
    T rest = neutral<reduction, T>();
    std::int64_t i = 0;
    if (step == 1 && n >= lanes) {
        std::array<T, lanes> partial;
        std::copy_n(from, lanes, partial.begin());
        for (i = lanes; i + lanes <= n; i += lanes)
            for (std::int64_t lane = 0; lane < lanes; ++lane)
                partial[std::size_t(lane)] =
                    combined<reduction>(partial[std::size_t(lane)], from[i + lane]);
        for (std::size_t width = lanes / 2; width > 0; width /= 2)
            for (std::size_t lane = 0; lane < width; ++lane)
                partial[lane] = combined<reduction>(partial[lane], partial[lane + width]);
        rest = partial[0];
    }
    for (; i < n; ++i)
        rest = combined<reduction>(rest, from[i * step]);
    return rest;
}

/// to[i] combined with from[i * step]: neighbours in the result.
template <Reduction reduction, class T>
void reduce_into_row(T* to, const T* from, std::int64_t step, std::int64_t n) {
    if (step == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            to[i] = combined<reduction>(to[i], from[i]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        to[i] = combined<reduction>(to[i], from[i * step]);
}

struct Plan {
    Nest nest;    ///< over x and the result, which stands still in the reduced loops
    std::int64_t result_count = 1;
};

Plan plan_of(const View& x, const Dims& dimensions) {
    View result{x.dims, Dims(x.dims.size(), 0), 0};
    Plan plan;
    for (std::size_t i = x.dims.size(); i-- > 0;) {
        if (std::ranges::count(dimensions, std::int64_t(i)) > 0) continue;
        result.strides[i] = plan.result_count;
        plan.result_count *= x.dims[i];
    }
    plan.nest = make_nest(x.dims, std::vector<View>{x, result});
    return plan;
}

template <Reduction reduction, class T>
void run(const Plan& plan, const T* from, T* to) {
    std::fill_n(to, plan.result_count, neutral<reduction, T>());
    const std::int64_t n = plan.nest.extents.back();
    const std::int64_t step = plan.nest.steps[0].back();
    const bool along = plan.nest.steps[1].back() == 0 || n == 1;
    for_each_row(plan.nest, [&](std::span<const std::int64_t> offsets) {
        T* const target = to + offsets[1];
        if (along)
            *target =
                combined<reduction>(*target, reduce_row<reduction>(from + offsets[0], step, n));
        else
            reduce_into_row<reduction>(target, from + offsets[0], step, n);
    });
}

}    // namespace

Kernel make_reduce(const View& x, const ReduceAttributes& reduction, DType dtype) {
    const auto plan = std::make_shared<const Plan>(plan_of(x, reduction.dimensions));
    return with_reduction(reduction.reduction, dtype, [&]<Reduction how, class T>() -> Kernel {
        return [plan](const KernelCall& call) {
            run<how>(*plan, reinterpret_cast<const T*>(call.reads[0]),
                     reinterpret_cast<T*>(call.writes[0]));
        };
    });
}

}    // namespace slipway
