#pragma once

#include <cstdint>
#include <vector>

#include "executor/codegen/fusion.h"
#include "executor/codegen/loops/loop_kernel.h"

/// In which order a cluster's kernel walks its space.
namespace slipway {

/// A space cut into dimensions: `extents` at `strides`, outermost first, in the members' row-major
/// order. Each dimension of each member is some neighbouring ones of these.
struct LoopSpace {
    Dims extents, strides;
};
LoopSpace space_of(const Cluster& cluster);

/// How far each dimension of the space moves a view over `dims`; an element of the view counts
/// `unit` elements of the space.
Dims strides_in(const LoopSpace& space, const Dims& dims, const Dims& strides, std::int64_t unit);

struct LoopOrderRequest {
    const LoopSpace& space;
    const LoopKernel& kernel;    ///< its loads, by dimension of the space
    std::int64_t row_elements = 0;
    std::vector<SpaceRange> columns = {};
    bool is_row_form_fixed = false;    ///< later passes over a row use what it was reduced to
    bool is_reduced = false;           ///< there are reductions that may take either form
    bool inputs_program = false;       ///< a result must lie in row-major order
};

/// The kernel's loops, as dimensions of the space.
struct LoopOrder {
    std::vector<std::size_t> groups, rows, inner;
    bool is_row_form = false;    ///< free reductions run along the inner loops
    /// How results of the space best lie: as what is read lies, outermost first.
    std::vector<std::size_t> physical;
};

/// Rows where the reduced dimensions lie innermost in memory, columns where others do.
LoopOrder order_of_loops(const LoopOrderRequest& request);

/// The order of a member's own dims that lies as `order.physical`; row-major when there is none.
Dims dims_order(const LoopSpace& space, const LoopOrder& order, const Dims& dims);

/// Turns the kernel's accesses, by dimension of the space, into loops.
void arrange(LoopKernel& kernel, const LoopSpace& space, const LoopOrder& order);

}    // namespace slipway
