#include "executor/codegen/kernels/elementwise.h"

#include <algorithm>
#include <array>
#include <memory>

#include "api/base/check.h"

namespace slipway {

namespace {

// A tile of every op's result together stays in the first-level cache.
constexpr std::int64_t tile_elements = 512;
constexpr std::size_t tile_bytes = tile_elements * sizeof(std::int64_t);

/// Everything a run needs, worked out once.
class Group {
public:
    explicit Group(ElementGroup group) : ops_(std::move(group.ops)) {
        check(!ops_.empty() && ops_.size() <= group_ops_max, "a group has 1 to group_ops_max ops");
        for (const DType dtype : group.input_types)
            input_bytes_.push_back(std::int64_t(size_in_bytes(dtype)));
        std::vector<View> views = std::move(group.inputs);
        views.push_back(dense_view(group.dims));
        nest_ = make_nest(group.dims, views);
        result_bytes_ = std::int64_t(size_in_bytes(ops_.back().result));
        for (const Dims& steps : nest_.steps)
            inner_steps_.push_back(steps.back());
    }

    /// A step backwards would let one slice read another's elements.
    std::int64_t sliceable_elements() const {
        const bool forward =
            std::ranges::all_of(inner_steps_, [](std::int64_t step) { return step >= 0; });
        return nest_.is_flat() && forward ? nest_.extents[0] : 0;
    }

    /// An input that lies exactly like the result.
    bool is_aligned(std::size_t input) const {
        return nest_.steps[input] == nest_.steps.back() && nest_.offsets[input] == 0 &&
               input_bytes_[input] == result_bytes_;
    }

    void run(const KernelCall& call) const {
        if (sliceable_elements() > 0) return run_span(call, nest_.offsets, call.begin, call.end);
        for_each_row(nest_, [&](std::span<const std::int64_t> offsets) {
            run_span(call, offsets, 0, nest_.extents.back());
        });
    }

private:
    void run_span(const KernelCall& call, std::span<const std::int64_t> offsets, std::int64_t begin,
                  std::int64_t end) const {
        const std::int64_t length = ops_.size() == 1 ? end - begin : tile_elements;
        for (std::int64_t at = begin; at < end; at += length)
            run_tile(call, offsets, at, std::min(length, end - at));
    }

    void run_tile(const KernelCall& call, std::span<const std::int64_t> offsets, std::int64_t at,
                  std::int64_t n) const {
        alignas(64) std::array<std::array<std::byte, tile_bytes>, group_ops_max - 1> tiles;
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            const ElementOp& op = ops_[i];
            std::array<const std::byte*, 3> from;
            std::array<std::int64_t, 3> steps;
            for (std::size_t k = 0; k < op.operands.size(); ++k) {
                const std::size_t index = op.operands[k].index;
                if (op.operands[k].is_input) {
                    steps[k] = inner_steps_[index];
                    from[k] =
                        call.reads[index] + (offsets[index] + at * steps[k]) * input_bytes_[index];
                } else {
                    steps[k] = 1;
                    from[k] = tiles[index].data();
                }
            }
            std::byte* const to = i + 1 < ops_.size()
                                      ? tiles[i].data()
                                      : call.writes[0] + (offsets.back() + at) * result_bytes_;
            op.row(to, from.data(), steps.data(), n);
        }
    }

    std::vector<ElementOp> ops_;
    std::vector<std::int64_t> input_bytes_;
    std::int64_t result_bytes_ = 0;
    Nest nest_;    ///< over the inputs, then the result
    Dims inner_steps_;
};

}    // namespace

ElementKernel make_element_kernel(ElementGroup group) {
    const std::size_t inputs = group.inputs.size();
    const auto compiled = std::make_shared<const Group>(std::move(group));    // kernels are copied
    ElementKernel result{.kernel = [compiled](const KernelCall& call) { compiled->run(call); },
                         .elements = compiled->sliceable_elements(),
                         .in_place = {}};
    for (std::size_t input = 0; input < inputs; ++input)
        if (compiled->is_aligned(input)) result.in_place.push_back(input);
    return result;
}

}    // namespace slipway
