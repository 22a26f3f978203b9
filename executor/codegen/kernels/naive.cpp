#include "executor/codegen/kernels/naive.h"

#include <algorithm>
#include <memory>

namespace slipway {

namespace {

struct Matmul {
    View lhs, rhs;

    void run(const float* a, const float* b, float* to) const {
        const std::int64_t m = lhs.dims[1], n = rhs.dims[2], k = lhs.dims[2];
        for (std::int64_t batch = 0; batch < lhs.dims[0]; ++batch) {
            for (std::int64_t i = 0; i < m; ++i) {
                float* const row = to + (batch * m + i) * n;
                std::fill_n(row, n, 0.0F);
                for (std::int64_t l = 0; l < k; ++l) {
                    const float x = a[lhs.offset + batch * lhs.strides[0] + i * lhs.strides[1] +
                                      l * lhs.strides[2]];
                    const float* const from =
                        b + rhs.offset + batch * rhs.strides[0] + l * rhs.strides[1];
                    for (std::int64_t j = 0; j < n; ++j)
                        row[j] += x * from[j * rhs.strides[2]];
                }
            }
        }
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

    float at(const Dims& index, const float* x, const float* w) const {
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
                sum += x[from + i * input_strides[1]] * w[with + i * kernel_strides[1]];
        } while (advance(element, kernel, 2));
        return sum;
    }

    void run(const float* x, const float* w, float* to) const {
        if (std::ranges::count(result, 0) > 0) return;
        Dims index(result.size(), 0);
        do {
            std::int64_t target = 0;
            for (std::size_t i = 0; i < index.size(); ++i)
                target += index[i] * result_strides[i];
            to[target] = at(index, x, w);
        } while (advance(index, result, 0));
    }
};

const float* floats(const std::byte* bytes) {
    return reinterpret_cast<const float*>(bytes);
}

template <class Plan>
Kernel kernel_of(Plan plan) {
    const auto shared = std::make_shared<const Plan>(std::move(plan));    // kernels are copied
    return [shared](const KernelCall& call) {
        shared->run(floats(call.reads[0]), floats(call.reads[1]),
                    reinterpret_cast<float*>(call.writes[0]));
    };
}

}    // namespace

Kernel make_naive_matmul(const View& lhs, const View& rhs) {
    return kernel_of(Matmul{lhs, rhs});
}

Kernel make_naive_convolution(const Dims& input, const Dims& kernel,
                              const ConvolutionAttributes& attributes, const Dims& result) {
    return kernel_of(Convolution(input, kernel, attributes, result));
}

}    // namespace slipway
