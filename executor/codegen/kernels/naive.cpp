#include "executor/codegen/kernels/naive.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

/// The last two dimensions of a view.
struct Plane {
    std::int64_t rows, columns, row_step, column_step;

    explicit Plane(const View& view)
        : rows(*(view.dims.end() - 2)),
          columns(view.dims.back()),
          row_step(*(view.strides.end() - 2)),
          column_step(view.strides.back()) {}
};

/// One row of the result: sums[j] += x * from[j].
template <class T>
void add_row(float* __restrict sums, float x, const T* from, std::int64_t step, std::int64_t n) {
    if (step == 1) {
        for (std::int64_t j = 0; j < n; ++j)
            sums[j] += x * float(from[j]);
        return;
    }
    for (std::int64_t j = 0; j < n; ++j)
        sums[j] += x * float(from[j * step]);
}

/// `sums` has room for a row of the result.
template <class T, class To>
void multiply(const std::array<Plane, 3>& planes, const T* a, const T* b, To* to,
              std::vector<float>& sums) {
    const auto& [lhs, rhs, result] = planes;
    for (std::int64_t i = 0; i < result.rows; ++i) {
        std::ranges::fill(sums, 0.0F);
        for (std::int64_t l = 0; l < lhs.columns; ++l)
            add_row(sums.data(), float(a[i * lhs.row_step + l * lhs.column_step]),
                    b + l * rhs.row_step, rhs.column_step, result.columns);
        To* const row = to + i * result.row_step;
        for (std::int64_t j = 0; j < result.columns; ++j)
            row[j * result.column_step] = To(sums[std::size_t(j)]);
    }
}

/// The dimensions before the last two, an extent 1 beside a larger one repeated.
View batches_of(const View& view, const View& result) {
    View batches{Dims(result.dims.begin(), result.dims.end() - 2),
                 Dims(view.strides.begin(), view.strides.end() - 2), view.offset};
    for (std::size_t i = 0; i < batches.dims.size(); ++i)
        if (view.dims[i] == 1) batches.strides[i] = 0;
    return batches;
}

struct Matmul {
    std::array<Plane, 3> planes;    ///< lhs, rhs, result
    Nest batches;                   ///< of the same

    Matmul(const View& a, const View& b, const View& to)
        : planes{Plane(a), Plane(b), Plane(to)},
          batches(make_nest(
              batches_of(to, to).dims,
              std::vector<View>{batches_of(a, to), batches_of(b, to), batches_of(to, to)})) {}

    template <class T, class To>
    void run(const T* a, const T* b, To* to) const {
        std::vector<float> sums(std::size_t(planes[2].columns));
        for_each_row(batches, [&](std::span<const std::int64_t> offsets) {
            for (std::int64_t i = 0; i < batches.extents.back(); ++i)
                multiply(planes, a + offsets[0] + i * batches.steps[0].back(),
                         b + offsets[1] + i * batches.steps[1].back(),
                         to + offsets[2] + i * batches.steps[2].back(), sums);
        });
    }
};

Dims picked(const Dims& dims, const Dims& which) {
    Dims result;
    for (const std::int64_t i : which)
        result.push_back(dims[std::size_t(i)]);
    return result;
}

/// Extents and strides by role: (batch, feature, spatial...), kernel (out, in, spatial...).
struct Convolution {
    ConvolutionAttributes a;
    Dims input, kernel, result;
    Dims input_strides, kernel_strides, result_strides;
    std::int64_t group_outputs, group_inputs;

    Convolution(const Dims& input_dims, const Dims& kernel_dims,
                const ConvolutionAttributes& attributes, const Dims& result_dims)
        : a(attributes),
          input(picked(input_dims, a.input_layout)),
          kernel(picked(kernel_dims, a.kernel_layout)),
          result(picked(result_dims, a.output_layout)),
          input_strides(picked(strides_of(input_dims), a.input_layout)),
          kernel_strides(picked(strides_of(kernel_dims), a.kernel_layout)),
          result_strides(picked(strides_of(result_dims), a.output_layout)),
          group_outputs(result[1] / (a.feature_groups * a.batch_groups)),
          group_inputs(kernel[1]) {}

    /// Offset of the input element under window element `element`, for one spatial dimension.
    std::int64_t source(std::size_t i, std::int64_t position, std::int64_t element) const {
        const WindowDimension& w = a.window[i];
        const std::int64_t at = position * w.stride + element * w.window_dilation - w.padding_low;
        if (at < 0 || at % w.base_dilation != 0 || at / w.base_dilation >= input[i + 2]) return -1;
        return at / w.base_dilation * input_strides[i + 2];
    }

    /// The next index of (batch, feature, spatial...); false after the last.
    static bool advance(Dims& index, const Dims& extents, std::size_t first) {
        for (std::size_t i = extents.size(); i-- > first;) {
            if (++index[i] < extents[i]) return true;
            index[i] = 0;
        }
        return false;
    }

    template <class T>
    float at(const Dims& index, const T* x, const T* w) const {
        const std::int64_t group = index[1] / group_outputs;
        const std::int64_t sample = index[0] + (a.batch_groups > 1 ? group * result[0] : 0);
        const std::int64_t feature = a.feature_groups > 1 ? group * group_inputs : 0;
        float sum = 0;
        Dims element(kernel.size(), 0);
        do {
            std::int64_t from = sample * input_strides[0] + feature * input_strides[1];
            std::int64_t with = index[1] * kernel_strides[0];
            bool inside = true;
            for (std::size_t i = 0; inside && i < a.window.size(); ++i) {
                const std::int64_t offset = source(i, index[i + 2], element[i + 2]);
                inside = offset >= 0;
                from += offset;
                with += element[i + 2] * kernel_strides[i + 2];
            }
            for (std::int64_t i = 0; inside && i < group_inputs; ++i)
                sum +=
                    float(x[from + i * input_strides[1]]) * float(w[with + i * kernel_strides[1]]);
        } while (advance(element, kernel, 2));
        return sum;
    }

    template <class T, class To>
    void run(const T* x, const T* w, To* to) const {
        if (std::ranges::count(result, 0) > 0) return;
        Dims index(result.size(), 0);
        do {
            std::int64_t target = 0;
            for (std::size_t i = 0; i < index.size(); ++i)
                target += index[i] * result_strides[i];
            to[target] = To(at(index, x, w));
        } while (advance(index, result, 0));
    }
};

template <class Plan, class T, class To>
Kernel kernel_of(std::shared_ptr<const Plan> plan) {
    return [plan](const KernelCall& call) {
        plan->run(reinterpret_cast<const T*>(call.reads[0]),
                  reinterpret_cast<const T*>(call.reads[1]), reinterpret_cast<To*>(call.writes[0]));
    };
}

template <class Plan>
Kernel kernel_of(Plan plan, ProductTypes types) {
    const auto shared = std::make_shared<const Plan>(std::move(plan));    // kernels are copied
    if (types.operands == DType::f32) return kernel_of<Plan, float, float>(shared);
    if (types.results == DType::f32) return kernel_of<Plan, BFloat16, float>(shared);
    return kernel_of<Plan, BFloat16, BFloat16>(shared);
}

}    // namespace

Kernel make_naive_matmul(const View& lhs, const View& rhs, const View& result, ProductTypes types) {
    return kernel_of(Matmul(lhs, rhs, result), types);
}

Kernel make_naive_convolution(const Dims& input, const Dims& kernel,
                              const ConvolutionAttributes& attributes, const Dims& result,
                              ProductTypes types) {
    return kernel_of(Convolution(input, kernel, attributes, result), types);
}

}    // namespace slipway
