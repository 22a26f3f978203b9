#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/graph/op.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// How a value lies in a buffer: element `index` is at offset + sum of index[i] * strides[i],
/// counted in elements. Stride 0 repeats, a negative stride walks backwards. Moving elements about
/// is making another view; only some readers then need a dense copy.
struct View {
    Dims dims;
    Dims strides;
    std::int64_t offset = 0;
};

/// The whole buffer in row-major order.
View dense_view(Dims dims);
bool is_dense(const View& view);
std::int64_t element_count(const View& view);

/// The whole buffer with its dimensions lying in this order, outermost first.
View ordered_view(const Dims& dims, const Dims& order);
/// The order in which the dimensions of a view lie that fills its buffer from the start: an
/// ordered_view. Nothing when there are gaps, repetitions or steps backwards.
std::optional<Dims> order_of(const View& view);
/// Dimensions 0, 1, 2...: the order of a dense view.
Dims row_major(std::size_t rank);
/// Whether both views, of equal dims, find every element at the same place.
bool same_places(const View& a, const View& b);

View broadcast_view(const View& x, const Dims& dims, const Dims& dimensions);
View transposed_view(const View& x, const Dims& permutation);
View sliced_view(const View& x, const SliceAttributes& slice);
View reversed_view(const View& x, const Dims& dimensions);
/// Nothing when the elements do not lie at regular distances under the new dims.
std::optional<View> reshaped_view(const View& x, const Dims& dims);

/// Nested loops over several views of equal dims, as few and as long as possible.
struct Nest {
    Dims extents;               ///< at least one; outermost first
    std::vector<Dims> steps;    ///< by view: how far each loop moves it, in elements
    Dims offsets;               ///< by view: where it begins

    bool is_flat() const { return extents.size() == 1; }
    std::int64_t element_count() const;
};

/// The nest over `views`, which all have `dims`. Dimensions merge where all views allow it.
Nest make_nest(const Dims& dims, std::span<const View> views);

/// Calls body(offsets) for every position of all loops but the innermost, in row-major order;
/// offsets[k] is where view k then stands.
template <class Body>
void for_each_row(const Nest& nest, Body&& body) {
    if (nest.element_count() == 0) return;
    const std::size_t outer = nest.extents.size() - 1;
    Dims index(outer, 0);
    Dims offsets = nest.offsets;
    for (;;) {
        body(std::span<const std::int64_t>(offsets));
        std::size_t loop = outer;
        for (;;) {
            if (loop-- == 0) return;
            const bool wraps = ++index[loop] == nest.extents[loop];
            const std::int64_t moved = wraps ? 1 - nest.extents[loop] : 1;
            for (std::size_t k = 0; k < offsets.size(); ++k)
                offsets[k] += moved * nest.steps[k][loop];
            if (!wraps) break;
            index[loop] = 0;
        }
    }
}

}    // namespace slipway
