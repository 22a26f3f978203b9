#include "executor/codegen/kernels/patches.h"

#include <cstring>

#include "executor/codegen/kernels/vectors.h"

namespace slipway {

namespace {

using Line = Vector<std::uint8_t, 64>;

/// As memcpy, without a call for the few lines of a window's row.
void copy(const std::byte* from, std::int64_t bytes, std::byte* to) {
    std::int64_t i = 0;
    for (; i + std::int64_t(sizeof(Line)) <= bytes; i += std::int64_t(sizeof(Line)))
        store(load<Line>(from + i), to + i);
    if (i < bytes) std::memcpy(to + i, from + i, std::size_t(bytes - i));
}

/// One row of a window that reaches beyond the image, or with gaps: its elements lie `dilations[1]`
/// pixels apart in a row of the image.
void copy_elements(const PatchShape& s, std::int64_t pixel_bytes, const std::byte* row,
                   std::int64_t first, std::byte* to) {
    for (std::int64_t element = 0; element < s.windows[1]; ++element, to += pixel_bytes) {
        const std::int64_t at = first + element * s.dilations[1];
        if (at >= 0 && at < s.extents[1])
            copy(row + at * pixel_bytes, pixel_bytes, to);
        else
            std::memset(to, 0, std::size_t(pixel_bytes));
    }
}

/// The same row of all windows side by side, `step` bytes apart.
void copy_windows(const PatchShape& s, std::int64_t pixel_bytes, const std::byte* row,
                  std::int64_t step, std::byte* to) {
    const std::int64_t bytes = s.windows[1] * pixel_bytes;
    for (std::int64_t x = 0; x < s.positions[1]; ++x, to += step) {
        const std::int64_t first = x * s.strides[1] - s.padding_low[1];
        const bool is_inside =
            s.dilations[1] == 1 && first >= 0 && first + s.windows[1] <= s.extents[1];
        if (is_inside)
            copy(row + first * pixel_bytes, bytes, to);
        else
            copy_elements(s, pixel_bytes, row, first, to);
    }
}

void run(const PatchShape& s, std::int64_t pixel_bytes, const std::byte* images, std::byte* to) {
    const std::int64_t size = pixel_bytes / s.channels;
    const std::int64_t window_row_bytes = s.windows[1] * pixel_bytes;
    const std::int64_t step = s.windows[0] * window_row_bytes;
    for (std::int64_t image = 0; image < s.batch; ++image)
        for (std::int64_t y = 0; y < s.positions[0]; ++y, to += s.positions[1] * step)
            for (std::int64_t line = 0; line < s.windows[0]; ++line) {
                const std::int64_t at = y * s.strides[0] + line * s.dilations[0] - s.padding_low[0];
                std::byte* const begin = to + line * window_row_bytes;
                if (at >= 0 && at < s.extents[0]) {
                    copy_windows(
                        s, pixel_bytes,
                        images + (s.offset + image * s.image_step + at * s.row_step) * size, step,
                        begin);
                    continue;
                }
                for (std::int64_t x = 0; x < s.positions[1]; ++x)
                    std::memset(begin + x * step, 0, std::size_t(window_row_bytes));
            }
}

}    // namespace

Kernel make_patches(const PatchShape& shape, DType dtype) {
    const std::int64_t pixel_bytes = shape.channels * std::int64_t(size_in_bytes(dtype));
    return [shape, pixel_bytes](const KernelCall& call) {
        run(shape, pixel_bytes, call.reads[0], call.writes[0]);
    };
}

}    // namespace slipway
