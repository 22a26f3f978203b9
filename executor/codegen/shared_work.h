#pragma once

#include <array>
#include <string_view>

/// Every kind of call whose extent depends on how many workers there are, how many replicas a
/// worker holds, or how many replicas a process has. Results may not depend on any of them. A call
/// of a library or of ours with more rows, images or elements than before is safe only for a reason
/// that is listed here; tests/executor/codegen/test_shared_work.cpp runs each row with 1, 2, 3, 4
/// and 8 workers over operands that show the order of additions, on each instruction set.
namespace slipway {

struct SharedWork {
    std::string_view name;
    std::string_view extent;    ///< what depends on workers or replicas
    std::string_view reason;    ///< why the bits do not
};

inline constexpr auto shared_work = std::to_array<SharedWork>({
    {"rows_together", "rows of a product: those of the replicas that a worker holds",
     "compared with one replica's kernel when the program is made, in groups of fewer replicas "
     "where it differs (together.h)"},
    {"lines_together", "rows of a product of lines",
     "each result has partial sums of its own, added up by one tree (kernels/line_product.h); "
     "compared as well"},
    {"patches_together", "rows of a product with patches of images", "as rows_together"},
    {"images_together", "images of a convolution, forward and of its images' gradient",
     "as rows_together (together.h)"},
    {"filtered_together", "images of a filtered convolution",
     "as rows_together; that it is filtered is decided for four replicas, on any number of workers "
     "(lower_convolution.cpp)"},
    {"sum_of_products", "rows of a gradient of all cores' rows that a worker computes",
     "blocks of rows that are the same for any number of workers (onednn/sum_of_matmuls.h)"},
    {"stacked_product", "features of a gradient of all cores' rows that a worker computes",
     "blocks of features that are the same for any number of workers (stacked_product.h)"},
    {"joined_gradient", "features of a convolution's gradient of all cores' images",
     "blocks of features that are the same for any number of workers (joined_gradient.h, "
     "filtered_gradient.h)"},
    {"look_ups", "cores whose look-ups are added to one gradient",
     "one worker adds them all, core by core (lower_indexed.cpp)"},
    {"element_loops", "elements of a loop of a replicated stage that a worker computes",
     "no element depends on another one; the rest of a vector is computed as the vector is "
     "(loops/loop_kernel.h)"},
    {"contributions", "contributions to a sum that a worker adds up, and elements that it adds",
     "the tree over the numbers of cores is fixed (runtime/reduction_tree.h)"},
    {"packing", "parts of packed weights that a worker writes",
     "numbers are moved and not computed, or each is transformed by itself (onednn/packing.h)"},
});

}    // namespace slipway
