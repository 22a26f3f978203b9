#include "executor/codegen/kernels/patches.h"

#include <cstring>

namespace slipway {

namespace {

/// One row of one window: its elements lie `dilations[1]` pixels apart in a row of the image.
void copy_window_row(const PatchShape& s, std::int64_t pixel_bytes, const std::byte* row,
                     std::int64_t first, std::byte* to) {
    const std::int64_t last = first + (s.windows[1] - 1) * s.dilations[1];
    if (s.dilations[1] == 1 && first >= 0 && last < s.extents[1]) {
        std::memcpy(to, row + first * pixel_bytes, std::size_t(s.windows[1] * pixel_bytes));
        return;
    }
    for (std::int64_t element = 0; element < s.windows[1]; ++element, to += pixel_bytes) {
        const std::int64_t at = first + element * s.dilations[1];
        if (at >= 0 && at < s.extents[1])
            std::memcpy(to, row + at * pixel_bytes, std::size_t(pixel_bytes));
        else
            std::memset(to, 0, std::size_t(pixel_bytes));
    }
}

void run(const PatchShape& s, std::int64_t pixel_bytes, const std::byte* images, std::byte* to) {
    const std::int64_t size = pixel_bytes / s.channels;
    const std::int64_t window_row_bytes = s.windows[1] * pixel_bytes;
    for (std::int64_t image = 0; image < s.batch; ++image)
        for (std::int64_t y = 0; y < s.positions[0]; ++y)
            for (std::int64_t x = 0; x < s.positions[1]; ++x)
                for (std::int64_t line = 0; line < s.windows[0]; ++line, to += window_row_bytes) {
                    const std::int64_t at =
                        y * s.strides[0] + line * s.dilations[0] - s.padding_low[0];
                    if (at < 0 || at >= s.extents[0]) {
                        std::memset(to, 0, std::size_t(window_row_bytes));
                        continue;
                    }
                    copy_window_row(
                        s, pixel_bytes,
                        images + (s.offset + image * s.image_step + at * s.row_step) * size,
                        x * s.strides[1] - s.padding_low[1], to);
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
