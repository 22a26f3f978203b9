#include "executor/codegen/loops/loop_plan.h"

#include <algorithm>

// A row is walked in passes: a value that depends on a reduction over the row belongs to a pass
// after the one that computes the reduction. A later pass computes a value again or reads it from
// scratch memory, whichever is cheaper: cost_of counts vector instructions, and from kept_cost_min
// on a value is kept. Scratch memory is laid out for the widest vectors, so that its size, and with
// it the plan of memory, is the same on every machine.
namespace slipway {

namespace {

// Scratch memory is laid out for the widest vectors, so that it is the same on every machine.
constexpr std::int64_t lanes_max = 16;
constexpr std::int64_t alignment = 64;
// Computing something again in a later pass is worth it below this many instructions.
constexpr int kept_cost_min = 10;

std::int64_t rounded_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

LoopPlan::Level level_of(const LoopKernel& kernel, const LoopAccess& access) {
    if (access.strides.back() != 0) return LoopPlan::Level::lane;
    const auto inner = access.strides.begin() + std::ptrdiff_t(kernel.inner_begin());
    const bool moves = std::any_of(inner, access.strides.end(), [](auto s) { return s != 0; });
    return moves ? LoopPlan::Level::line : LoopPlan::Level::row;
}

/// Bytes of a value in a register's lane; bf16 is computed in f32.
std::int64_t lane_bytes(DType dtype) {
    return dtype == DType::bf16 ? 4 : std::int64_t(size_in_bytes(dtype));
}

class Planner {
public:
    explicit Planner(const LoopKernel& kernel) : kernel_(kernel) {}

    LoopPlan run() {
        find_levels();
        find_passes();
        lay_out_row();
        keep_values();
        lay_out_partials();
        return std::move(plan_);
    }

private:
    void find_levels() {
        for (const LoopValue& value : kernel_.values) {
            LoopPlan::Level level = LoopPlan::Level::row;
            if (value.kind == LoopValueKind::load || value.kind == LoopValueKind::counter)
                level = level_of(kernel_, value.access);
            if (value.kind == LoopValueKind::compute)
                for (const ValueId operand : value.operands)
                    level = std::max(level, plan_.levels[operand]);
            plan_.levels.push_back(level);
        }
    }

    std::size_t pass_of_access(const LoopAccess& access) const {
        std::size_t pass = 0;
        for (const LoopAccess::Term& term : access.terms)
            pass = std::max(pass, plan_.passes[term.index]);
        return pass;
    }

    void find_passes() {
        for (const LoopValue& value : kernel_.values) {
            std::size_t pass = pass_of_access(value.access);
            for (const ValueId operand : value.operands)
                pass = std::max(pass, plan_.passes[operand]);
            if (value.kind == LoopValueKind::reduce) ++pass;
            plan_.passes.push_back(pass);
        }
        for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
            const LoopValue& value = kernel_.values[i];
            if (value.kind == LoopValueKind::reduce) include(plan_.passes[value.operands[0]]);
        }
        for (const LoopStore& store : kernel_.stores)
            if (store.kind != LoopStoreKind::row) include(pass_of(store, plan_));
    }

    void include(std::size_t pass) { plan_.pass_count = std::max(plan_.pass_count, pass + 1); }

    void lay_out_row() {
        plan_.padded_last = rounded_up(kernel_.extents.back(), lanes_max);
        plan_.padded_elements = plan_.padded_last;
        for (std::size_t i = kernel_.inner_begin(); i + 1 < kernel_.extents.size(); ++i)
            plan_.padded_elements *= kernel_.extents[i];
        plan_.kept.resize(kernel_.values.size());
        plan_.partials.resize(kernel_.stores.size());
    }

    std::int64_t take(DType dtype) {
        const std::int64_t at = plan_.scratch_bytes;
        plan_.scratch_bytes += rounded_up(plan_.padded_elements * lane_bytes(dtype), alignment);
        return at;
    }

    /// What a pass would compute from loads alone, by value.
    void find_costs() {
        for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
            int cost = 0;
            if (plan_.levels[i] == LoopPlan::Level::lane) cost = cost_of(kernel_.values[i]);
            for (const ValueId operand : kernel_.values[i].operands)
                cost = std::min(cost + costs_[operand], 2 * kept_cost_min);
            costs_.push_back(plan_.levels[i] == LoopPlan::Level::lane ? cost : 0);
        }
    }

    /// Costly values that a later pass needs again are kept in scratch memory.
    void keep_values() {
        if (kernel_.flat) return;
        find_costs();
        for (std::size_t pass = 1; pass < plan_.pass_count; ++pass) {
            std::vector<bool> seen(kernel_.values.size());
            for (const ValueId root : roots_of_pass(kernel_, plan_, pass))
                keep_from(root, pass, seen);
        }
    }

    void keep_from(ValueId id, std::size_t pass, std::vector<bool>& seen) {
        const LoopValue& value = kernel_.values[id];
        if (seen[id] || plan_.levels[id] != LoopPlan::Level::lane) return;
        seen[id] = true;
        if (value.kind != LoopValueKind::compute || plan_.kept[id]) return;
        if (plan_.passes[id] < pass && costs_[id] >= kept_cost_min) {
            plan_.kept[id] = take(value.dtype);
            return;
        }
        for (const ValueId operand : value.operands)
            keep_from(operand, pass, seen);
    }

    void lay_out_partials() {
        std::int64_t rows = 1;
        for (std::size_t i = kernel_.groups; i < kernel_.inner_begin(); ++i)
            rows *= kernel_.extents[i];
        for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
            const LoopStore& store = kernel_.stores[i];
            if (store.kind != LoopStoreKind::column) continue;
            const DType dtype = kernel_.values[store.value].dtype;
            const bool rounds = store.reduction == Reduction::add && is_floating(dtype);
            std::int64_t reached = LoopPlan::rows_per_level;
            plan_.partials[i].push_back(take(dtype));
            for (; rounds && reached < rows && plan_.partials[i].size() < 4;
                 reached *= LoopPlan::rows_per_level)
                plan_.partials[i].push_back(take(dtype));
        }
    }

    const LoopKernel& kernel_;
    std::vector<int> costs_;
    LoopPlan plan_;
};

void add_lane_values(const LoopKernel& kernel, const LoopPlan& plan, std::size_t pass, ValueId id,
                     std::vector<bool>& seen, std::vector<ValueId>& order) {
    if (seen[id] || plan.levels[id] != LoopPlan::Level::lane) return;
    seen[id] = true;
    const bool is_given = plan.kept[id] && plan.passes[id] < pass;
    if (!is_given)
        for (const ValueId operand : kernel.values[id].operands)
            add_lane_values(kernel, plan, pass, operand, seen, order);
    order.push_back(id);
}

}    // namespace

LoopPlan plan_of(const LoopKernel& kernel) {
    return Planner(kernel).run();
}

std::size_t pass_of(const LoopStore& store, const LoopPlan& plan) {
    std::size_t pass = plan.passes[store.value];
    for (const LoopAccess::Term& term : store.to.terms)
        pass = std::max(pass, plan.passes[term.index]);
    return pass;
}

std::vector<ValueId> roots_of_pass(const LoopKernel& kernel, const LoopPlan& plan,
                                   std::size_t pass) {
    std::vector<ValueId> roots;
    const auto add = [&](ValueId id) {
        if (std::ranges::count(roots, id) == 0) roots.push_back(id);
    };
    for (std::size_t i = 0; i < kernel.values.size(); ++i) {
        const LoopValue& value = kernel.values[i];
        if (value.kind == LoopValueKind::reduce && plan.passes[value.operands[0]] == pass)
            add(value.operands[0]);
        if (plan.kept[i] && plan.passes[i] == pass) add(ValueId(i));
    }
    for (const LoopStore& store : kernel.stores)
        if (store.kind != LoopStoreKind::row && pass_of(store, plan) == pass) add(store.value);
    return roots;
}

std::vector<ValueId> lane_values_of_pass(const LoopKernel& kernel, const LoopPlan& plan,
                                         std::size_t pass) {
    std::vector<bool> seen(kernel.values.size());
    std::vector<ValueId> order;
    for (const ValueId root : roots_of_pass(kernel, plan, pass))
        add_lane_values(kernel, plan, pass, root, seen, order);
    return order;
}

std::size_t last_pass_loading(const LoopKernel& kernel, const LoopPlan& plan, std::size_t read) {
    std::size_t last = 0;
    for (std::size_t pass = 0; pass < plan.pass_count; ++pass)
        for (const ValueId id : lane_values_of_pass(kernel, plan, pass)) {
            const LoopValue& value = kernel.values[id];
            const bool is_given = plan.kept[id] && plan.passes[id] < pass;
            if (value.kind == LoopValueKind::load && value.access.buffer == read && !is_given)
                last = pass;
        }
    return last;
}

int cost_of(const LoopValue& value) {
    if (value.kind != LoopValueKind::compute) return 1;
    switch (value.op) {
        case OpCode::exponential:
            return 14;
        case OpCode::exponential_minus_one:
            return 18;
        case OpCode::log:
        case OpCode::log_plus_one:
            return 25;
        case OpCode::logistic:
            return 28;
        case OpCode::tanh:
            return 22;
        case OpCode::sine:
        case OpCode::cosine:
            return 30;
        case OpCode::erf:
            return 18;
        case OpCode::power:
        case OpCode::remainder:
            return 80;
        case OpCode::divide:
        case OpCode::sqrt:
            return 10;
        case OpCode::rsqrt:
            return 20;
        default:
            return 1;
    }
}

std::int64_t scratch_bytes(const LoopKernel& kernel) {
    return plan_of(kernel).scratch_bytes;
}

}    // namespace slipway
