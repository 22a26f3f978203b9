#include "executor/codegen/kernels/paired_patches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "executor/codegen/kernels/vectors.h"

namespace slipway {

namespace {

constexpr std::int64_t at_once = PairedLayout::paired_channels;
using Row = Vector<std::uint16_t, int(at_once)>;
using Pairs = Vector<std::uint16_t, 2 * int(at_once)>;

template <std::size_t... i>
Pairs side_by_side(const Row& a, const Row& b, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + i % 2 * at_once)...);
}

/// The windows of all images, one after the other.
class Windows {
public:
    Windows(const PatchShape& shape, const std::uint16_t* images)
        : shape_(shape), image_(images + shape.offset), zeros_(std::size_t(shape.channels)) {}

    /// Where the next window's pixels are, in the order of the matrix' columns; zeros outside its
    /// image and after the last window.
    void next(const std::uint16_t** places) {
        if (number_ == shape_.batch) {
            std::fill_n(places, shape_.windows[0] * shape_.windows[1], zeros_.data());
            return;
        }
        const std::int64_t top = y_ * shape_.strides[0] - shape_.padding_low[0];
        const std::int64_t left = x_ * shape_.strides[1] - shape_.padding_low[1];
        for (std::int64_t i = 0; i < shape_.windows[0]; ++i) {
            const std::int64_t y = top + i * shape_.dilations[0];
            const bool has_row = y >= 0 && y < shape_.extents[0];
            const std::uint16_t* const row = image_ + y * shape_.row_step;
            for (std::int64_t j = 0; j < shape_.windows[1]; ++j) {
                const std::int64_t x = left + j * shape_.dilations[1];
                const bool is_inside = has_row && x >= 0 && x < shape_.extents[1];
                *places++ = is_inside ? row + x * shape_.channels : zeros_.data();
            }
        }
        advance();
    }

private:
    void advance() {
        if (++x_ < shape_.positions[1]) return;
        x_ = 0;
        if (++y_ < shape_.positions[0]) return;
        y_ = 0;
        ++number_;
        image_ += shape_.image_step;
    }

    const PatchShape shape_;    ///< a copy: nothing that is stored through pointers can change it
    const std::uint16_t* image_;
    std::vector<std::uint16_t> zeros_;
    std::int64_t number_ = 0, y_ = 0, x_ = 0;
};

std::int64_t rounded_up(std::int64_t count, std::int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

/// Where each sixteen columns of a pair of rows begin.
std::vector<std::int64_t> column_places(const PatchShape& shape, const PairedLayout& layout) {
    std::vector<std::int64_t> places;
    const std::int64_t columns = rounded_up(shape.row_elements(), layout.columns);
    for (std::int64_t n = 0; n < columns; n += at_once)
        places.push_back(n / layout.columns * layout.column_block_step + n % layout.columns * 2);
    return places;
}

void run(const PatchShape& shape, const PairedLayout& layout,
         const std::vector<std::int64_t>& places, const std::uint16_t* images, std::uint16_t* to) {
    Windows windows(shape, images);
    const auto taps = std::size_t(shape.windows[0] * shape.windows[1]);
    std::vector<const std::uint16_t*> first(taps), second(taps);
    for (std::int64_t row = 0; row < rounded_up(shape.row_count(), PairedLayout::rows); row += 2) {
        windows.next(first.data());
        windows.next(second.data());
        std::uint16_t* const pair = to + row / PairedLayout::rows * layout.row_block_step +
                                    row % PairedLayout::rows * layout.columns;
        const std::int64_t* place = places.data();
        for (std::size_t tap = 0; tap < taps; ++tap)
            for (std::int64_t i = 0; i < shape.channels; i += at_once)
                store(side_by_side(load<Row>(first[tap] + i), load<Row>(second[tap] + i),
                                   std::make_index_sequence<2 * at_once>()),
                      pair + *place++);
        for (; place != places.data() + places.size(); ++place)
            store(Pairs{}, pair + *place);
    }
}

}    // namespace

Kernel make_paired_patches(const PatchShape& shape, const PairedLayout& layout) {
    return [shape, layout, places = column_places(shape, layout)](const KernelCall& call) {
        run(shape, layout, places, reinterpret_cast<const std::uint16_t*>(call.reads[0]),
            reinterpret_cast<std::uint16_t*>(call.writes[0]));
    };
}

}    // namespace slipway
