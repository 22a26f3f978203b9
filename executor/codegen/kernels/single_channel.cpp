#include "executor/codegen/kernels/single_channel.h"

#include <algorithm>
#include <vector>

#include "executor/codegen/kernels/rounded_vectors.h"

// A convolution of one input channel has few products for each result, too few for a product of
// matrices. So the output channels lie in a register, the image is padded once so that no window
// needs a test, and four neighbouring pixels share each weight that is loaded. The sums of a
// gradient are added image by image, in their order.
namespace slipway {

namespace {

/// One image at a time, with zeros around it as far as windows reach.
class PaddedImage {
public:
    explicit PaddedImage(const PatchShape& shape)
        : shape_(shape),
          columns_((shape.positions[1] - 1) * shape.strides[1] + shape.windows[1]),
          pixels_(std::size_t(((shape.positions[0] - 1) * shape.strides[0] + shape.windows[0]) *
                              columns_)) {}

    template <class T>
    void fill(const T* images, std::int64_t number) {
        const T* const image = images + shape_.offset + number * shape_.image_step;
        const std::int64_t rows = std::int64_t(pixels_.size()) / columns_;
        const std::int64_t left = shape_.padding_low[1];
        const std::int64_t first = std::max<std::int64_t>(0, left);
        const std::int64_t last = std::min(columns_, left + shape_.extents[1]);
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int64_t from = row - shape_.padding_low[0];
            if (from < 0 || from >= shape_.extents[0]) continue;
            float* const to = pixels_.data() + row * columns_;
            for (std::int64_t column = first; column < last; ++column)
                to[column] = float(image[from * shape_.row_step + column - left]);
        }
    }

    std::int64_t columns() const { return columns_; }
    /// Where the window at (y, x) begins.
    const float* window(std::int64_t y, std::int64_t x) const {
        return pixels_.data() + y * shape_.strides[0] * columns_ + x * shape_.strides[1];
    }

private:
    const PatchShape& shape_;
    std::int64_t columns_;
    std::vector<float> pixels_;
};

std::int64_t place_of_weight(const View& weights, std::int64_t output, std::int64_t element,
                             std::int64_t size) {
    return weights.offset + output * weights.strides[0] + element / size * weights.strides[1] +
           element % size * weights.strides[2];
}

/// The weights as [window, outputs].
template <int size, class T>
std::vector<float> gathered(const SingleChannel& convolution, const T* weights) {
    std::vector<float> result;
    for (std::int64_t element = 0; element < size * size; ++element)
        for (std::int64_t output = 0; output < convolution.outputs; ++output)
            result.push_back(
                float(weights[place_of_weight(convolution.weights, output, element, size)]));
    return result;
}

/// `count` neighbouring pixels: a weight is loaded once for all of them.
template <int size, int count, class Result>
void convolve_pixels(const SingleChannel& convolution, const PaddedImage& image,
                     const float* window, const float* weights, Result* to) {
    Floats sums[count] = {};
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            const auto weight = load<Floats>(weights + (y * size + x) * convolution.outputs);
            for (int pixel = 0; pixel < count; ++pixel)
                sums[pixel] +=
                    weight *
                    window[y * image.columns() + x + pixel * convolution.images.strides[1]];
        }
    for (int pixel = 0; pixel < count; ++pixel)
        store_rounded(sums[pixel], to + pixel * convolution.outputs);
}

/// A row of results, as many channels of them as a register has room for.
template <int size, class Result>
void convolve_row(const SingleChannel& convolution, const PaddedImage& image, std::int64_t y,
                  const float* weights, Result* to) {
    constexpr int pixels_at_once = 4;
    const std::int64_t pixels = convolution.images.positions[1];
    std::int64_t x = 0;
    for (; x + pixels_at_once <= pixels; x += pixels_at_once)
        convolve_pixels<size, pixels_at_once>(convolution, image, image.window(y, x), weights,
                                              to + x * convolution.outputs);
    for (; x < pixels; ++x)
        convolve_pixels<size, 1>(convolution, image, image.window(y, x), weights,
                                 to + x * convolution.outputs);
}

template <int size, class T, class Result>
void convolve(const SingleChannel& convolution, const T* images, const T* weights, Result* to) {
    const PatchShape& shape = convolution.images;
    const std::int64_t row_elements = shape.positions[1] * convolution.outputs;
    const std::vector<float> numbers = gathered<size>(convolution, weights);
    PaddedImage image(shape);
    for (std::int64_t number = 0; number < shape.batch; ++number) {
        image.fill(images, number);
        for (std::int64_t y = 0; y < shape.positions[0]; ++y)
            for (std::int64_t i = 0; i < convolution.outputs; i += floats_count)
                convolve_row<size>(convolution, image, y, numbers.data() + i,
                                   to + (number * shape.positions[0] + y) * row_elements + i);
    }
}

/// Adds what one image's windows have to do with the gradients of all results.
template <int size, class T>
void add_image(const SingleChannel& convolution, const PaddedImage& image, const T* gradients,
               float* totals) {
    const PatchShape& shape = convolution.images;
    Floats sums[size * size] = {};
    for (std::int64_t y = 0; y < shape.positions[0]; ++y)
        for (std::int64_t x = 0; x < shape.positions[1]; ++x) {
            const Floats gradient = load_widened(gradients);
            gradients += convolution.outputs;
            const float* const window = image.window(y, x);
            for (int row = 0; row < size; ++row)
                for (int column = 0; column < size; ++column)
                    sums[row * size + column] += gradient * window[row * image.columns() + column];
        }
    for (int element = 0; element < size * size; ++element) {
        float* const total = totals + element * convolution.outputs;
        store(load<Floats>(total) + sums[element], total);
    }
}

template <int size, class T>
void sum_gradients(const SingleChannel& convolution, const T* images, const T* gradients,
                   float* to) {
    const PatchShape& shape = convolution.images;
    std::vector<float> totals(std::size_t(size * size * convolution.outputs));
    PaddedImage image(shape);
    for (std::int64_t number = 0; number < shape.batch; ++number) {
        image.fill(images, number);
        for (std::int64_t i = 0; i < convolution.outputs; i += floats_count)
            add_image<size>(convolution, image, gradients + i, totals.data() + i);
        gradients += shape.positions[0] * shape.positions[1] * convolution.outputs;
    }
    for (std::int64_t element = 0; element < size * size; ++element)
        for (std::int64_t output = 0; output < convolution.outputs; ++output)
            to[place_of_weight(convolution.weights, output, element, size)] =
                totals[std::size_t(element * convolution.outputs + output)];
}

template <class T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

template <int size, class T, class Result>
Kernel forward_kernel(const SingleChannel& convolution) {
    return [convolution](const KernelCall& call) {
        convolve<size>(convolution, as<T>(call.reads[0]), as<T>(call.reads[1]),
                       reinterpret_cast<Result*>(call.writes[0]));
    };
}

template <int size, class T>
Kernel gradient_kernel(const SingleChannel& convolution) {
    return [convolution](const KernelCall& call) {
        sum_gradients<size>(convolution, as<T>(call.reads[0]), as<T>(call.reads[1]),
                            reinterpret_cast<float*>(call.writes[0]));
    };
}

template <int size>
Kernel forward_of(const SingleChannel& convolution) {
    const bool is_wide = convolution.results == DType::f32;
    if (convolution.operands == DType::f32)
        return is_wide ? forward_kernel<size, float, float>(convolution)
                       : forward_kernel<size, float, BFloat16>(convolution);
    return is_wide ? forward_kernel<size, BFloat16, float>(convolution)
                   : forward_kernel<size, BFloat16, BFloat16>(convolution);
}

template <int size>
Kernel gradient_of(const SingleChannel& convolution) {
    return convolution.operands == DType::f32 ? gradient_kernel<size, float>(convolution)
                                              : gradient_kernel<size, BFloat16>(convolution);
}

}    // namespace

bool is_single_channel(const PatchShape& images, std::int64_t outputs) {
    const std::int64_t size = images.windows[0];
    return images.channels == 1 && outputs % floats_count == 0 && (size == 3 || size == 5) &&
           images.windows[1] == size && images.dilations == std::array<std::int64_t, 2>{1, 1} &&
           images.positions[0] > 0 && images.positions[1] > 0;
}

Kernel make_single_channel(const SingleChannel& convolution) {
    return convolution.images.windows[0] == 3 ? forward_of<3>(convolution)
                                              : forward_of<5>(convolution);
}

Kernel make_single_channel_gradient(const SingleChannel& convolution) {
    return convolution.images.windows[0] == 3 ? gradient_of<3>(convolution)
                                              : gradient_of<5>(convolution);
}

}    // namespace slipway
