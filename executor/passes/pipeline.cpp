// Passes in a fixed order, each once. Composites are expanded and precision is applied first, so
// that all others see the operations that are computed; folding and simplifying before merging,
// which finds more when forms are plain; the passes over pools last, since they look for equal
// nodes that are merged. The graph is verified before the first and after every pass: a pass
// that breaks it is named.
#include "executor/passes/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "api/base/error.h"
#include "executor/graph/print.h"
#include "executor/graph/verify.h"

namespace slipway {

namespace {

// A node that no output reaches is no part of a graph, so there is nothing to drop at the end.
constexpr std::array passes{
    Pass{"expand_composites", expand_composites},
    Pass{"apply_precision", apply_precision},
    Pass{"canonicalize_products", canonicalize_products},
    Pass{"fold_constants", fold_constants},
    Pass{"simplify_algebra", simplify_algebra},
    Pass{"merge_common", merge_common},
    Pass{"mask_pooled", mask_pooled},
    Pass{"pool_first", pool_first},
    Pass{"narrow_pools", narrow_pools},
};

void require_known(std::span<const std::string> skip) {
    for (const std::string& name : skip) {
        if (std::ranges::find(passes, name, &Pass::name) != passes.end()) continue;
        std::vector<std::string_view> names;
        for (const Pass& pass : passes)
            names.push_back(pass.name);
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("skip: there is no pass named {}; there are {}", name,
                                fmt::join(names, ", ")));
    }
}

}    // namespace

std::span<const Pass> pipeline() {
    return passes;
}

Optimized optimize(const Graph& graph, const OptimizeOptions& options, const Clock& clock) {
    const std::vector<std::string>& skip = options.skip;
    require_known(skip);
    NodeSet nodes = verify(graph, "tracing", {});
    Optimized result{graph, {}};
    for (const Pass& pass : passes) {
        if (std::ranges::find(skip, pass.name) != skip.end()) continue;
        const Tick begin = clock.tick();
        Graph rewritten = pass.rewrite(result.graph, options.passes);
        const std::chrono::duration<double> elapsed = clock.tick() - begin;
        NodeSet nodes_after = verify(rewritten, pass.name, nodes);
        result.passes.push_back({pass.name, elapsed.count(), nodes.size(), nodes_after.size()});
        if (options.dump) result.passes.back().text = print(rewritten);
        result.graph = std::move(rewritten);
        nodes = std::move(nodes_after);
    }
    return result;
}

}    // namespace slipway
