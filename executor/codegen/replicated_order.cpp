// By readiness alone, the stage of the updates would begin with the gradients that could be made
// first. An embedding that is also the output layer has the largest one, a product to which the
// first layer's look-ups are added last of all: it would be held while all other weights are
// updated. So a replicated stage is walked from its ends, what nobody in it reads, in the order in
// which readiness has them: each comes right after what it is made of, and no two gradients are
// alive together unless a result needs both.
#include "executor/codegen/replicated_order.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace slipway {

namespace {

/// A cluster, or a node of its own.
struct Unit {
    int stage = 0;
    std::vector<Tensor> members;
    std::vector<std::size_t> sources;    ///< of its stage
    bool is_read = false;                ///< by a unit of its stage
};

class Units {
public:
    Units(const Fusion& fusion, const Analysis& analysis) {
        for (const Tensor& tensor : fusion.order) {
            const auto cluster = fusion.cluster_of.find(tensor.get());
            const bool goes_on = cluster != fusion.cluster_of.end() &&
                                 fusion.clusters[cluster->second].members.front() != tensor;
            if (!goes_on) units_.emplace_back().stage = analysis.of(tensor).stage;
            units_.back().members.push_back(tensor);
            unit_of_.emplace(tensor.get(), units_.size() - 1);
        }
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            find_sources(unit);
    }

    std::vector<Tensor> order() {
        std::vector<std::size_t> by_stage;
        done_.assign(units_.size(), false);
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            if (units_[unit].stage % 2 == 1)
                by_stage.push_back(unit);
            else if (!units_[unit].is_read)
                append_with_sources(unit, by_stage);
        std::ranges::stable_sort(by_stage, {},
                                 [&](std::size_t unit) { return units_[unit].stage; });
        std::vector<Tensor> order;
        for (const std::size_t unit : by_stage)
            std::ranges::copy(units_[unit].members, std::back_inserter(order));
        return order;
    }

private:
    /// By way of views and of what is computed again where it is read.
    void find_sources(std::size_t unit) {
        std::unordered_set<const Node*> seen;
        std::vector<Tensor> open = units_[unit].members;
        while (!open.empty()) {
            const Tensor tensor = std::move(open.back());
            open.pop_back();
            for (const Tensor& operand : tensor.node().operands) {
                if (!seen.insert(operand.get()).second) continue;
                const auto known = unit_of_.find(operand.get());
                if (known == unit_of_.end()) {
                    open.push_back(operand);
                } else if (known->second != unit &&
                           units_[known->second].stage == units_[unit].stage) {
                    units_[unit].sources.push_back(known->second);
                    units_[known->second].is_read = true;
                }
            }
        }
        std::ranges::sort(units_[unit].sources);
    }

    void append_with_sources(std::size_t end, std::vector<std::size_t>& order) {
        std::vector<std::pair<std::size_t, std::size_t>> open{{end, 0}};    // unit, next source
        while (!open.empty()) {
            auto& [unit, next] = open.back();
            const std::vector<std::size_t>& sources = units_[unit].sources;
            while (next < sources.size() && done_[sources[next]])
                ++next;
            if (next < sources.size()) {
                open.emplace_back(sources[next], 0);
                continue;
            }
            done_[unit] = true;
            order.push_back(unit);
            open.pop_back();
        }
    }

    std::vector<Unit> units_;    ///< as they are ready
    std::unordered_map<const Node*, std::size_t> unit_of_;
    std::vector<bool> done_;
};

}    // namespace

void make_values_late(Fusion& fusion, const Analysis& analysis) {
    fusion.order = Units(fusion, analysis).order();
}

}    // namespace slipway
