#pragma once

#include <string>
#include <vector>

#include "executor/codegen/fusion.h"
#include "executor/codegen/loop_order.h"
#include "executor/codegen/loops/loop_kernel.h"
#include "executor/program/program.h"

namespace slipway {

class Lowering;

/// A cluster as one loop kernel over buffers of the program. Its loops are not joined yet.
struct ClusterKernel {
    LoopKernel kernel;
    LoopOrder order;                        ///< of its loops
    std::vector<BufferId> reads, writes;    ///< as the kernel numbers them
    std::vector<const Node*> stored;        ///< by store
    std::string text;                       ///< its ops, a step's name
};

/// Places the results that the cluster stores; where the kernel would pick the elements of a large
/// array one by one, a copy in the kernel's own order is made first. The cluster's space has
/// elements.
ClusterKernel kernel_of_cluster(Lowering& lowering, const Cluster& cluster);

}    // namespace slipway
