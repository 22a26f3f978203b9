// The gradient of a weight that is read only by the update of this weight need not be whole
// anywhere: each process takes the sum of its shard of the elements, updates this shard of the
// weight and of the optimizer's state, and gives the others its shard of the new weight. The bytes
// sent are those of an all_reduce, whose two halves lie before and after the update; what is
// computed is divided by the number of processes. Which steps these are is read off the program:
// an elementwise step says so (Step::elements), and buffers say who else touches them. A step that
// fails one condition leaves its sums whole, and so every other step that reads them: candidates
// are removed until none is left to remove.
//
// Not taken: marking the updates in the graph. Fusion decides which nodes become one step, and one
// that also computes a norm, or lies in another order than the sum, cannot be cut.
#include "executor/runtime/sharded_update.h"

#include <algorithm>
#include <optional>

namespace slipway {

namespace {

class ShardPlanner {
public:
    ShardPlanner(const Program& program, const ShardedUpdate& update)
        : program_(program), update_(update), is_sharded_(program.steps.size(), false) {}

    ShardPlan run() {
        for (const Stage& stage : program_.stages)
            for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i)
                is_sharded_[i] = !stage.per_core && may_shard(i);
        while (remove_some()) {
        }
        return plan();
    }

private:
    bool has_elements_of(const Step& step, BufferId id) const {
        return program_.buffers[id].shape.element_count() == step.elements;
    }

    bool may_shard(std::size_t number) const {
        const Step& step = program_.steps[number];
        if (step.elements == 0 || step.batches_cores) return false;
        bool reads_sum = false;
        for (const BufferId id : step.reads) {
            if (program_.buffers[id].region != Region::sum) continue;
            if (!has_elements_of(step, id) || !may_scatter(id)) return false;
            reads_sum = true;
        }
        return reads_sum && std::ranges::all_of(step.writes, [&](BufferId id) {
                   const auto input = written_input(id);
                   return input && has_elements_of(step, id) && !touches_after(number, *input);
               });
    }

    /// A large sum of one stage that is exchanged as f32.
    bool may_scatter(BufferId id) const {
        const Shape& shape = program_.buffers[id].shape;
        if (shape.dtype != DType::f32 || shape.byte_count() < sharded_bytes_min) return false;
        std::size_t count = 0;
        for (const Stage& stage : program_.stages)
            for (const Sum& sum : stage.sums)
                if (sum.buffer == id) count += sum.rounds_to_bf16 ? 2 : 1;
        return count == 1;
    }

    /// The input that this buffer is: itself, or an output in its memory.
    std::optional<std::size_t> input_of(BufferId id) const {
        const Buffer& buffer = program_.buffers[id];
        if (buffer.region == Region::input) return buffer.position;
        if (buffer.region == Region::output) return program_.outputs[buffer.position].donated;
        return std::nullopt;
    }

    std::optional<std::size_t> written_input(BufferId id) const {
        const auto input = input_of(id);
        const bool fits =
            input && program_.inputs[*input].donated && !program_.inputs[*input].per_core;
        return fits ? input : std::nullopt;
    }

    bool touches(const Step& step, std::size_t input) const {
        const auto is_it = [&](BufferId id) { return input_of(id) == input; };
        return std::ranges::any_of(step.reads, is_it) || std::ranges::any_of(step.writes, is_it);
    }

    bool touches_after(std::size_t number, std::size_t input) const {
        for (std::size_t i = number + 1; i < program_.steps.size(); ++i)
            if (touches(program_.steps[i], input)) return true;
        return false;
    }

    bool is_state(std::size_t number, std::size_t input) const {
        if (std::ranges::count(update_.state, input) == 0) return false;
        for (std::size_t i = 0; i < program_.steps.size(); ++i)
            if (i != number && touches(program_.steps[i], input)) return false;
        return true;
    }

    std::vector<std::size_t> gathered_after(std::size_t number) const {
        std::vector<std::size_t> inputs;
        for (const BufferId id : program_.steps[number].writes)
            if (!is_state(number, *input_of(id))) inputs.push_back(*input_of(id));
        return inputs;
    }

    /// Others read its sums, or more would be gathered than they have.
    bool must_remove(std::size_t number) const {
        std::int64_t sent = 0, gathered = 0;
        for (const BufferId id : program_.steps[number].reads) {
            if (program_.buffers[id].region != Region::sum) continue;
            sent += program_.buffers[id].shape.byte_count();
            for (std::size_t i = 0; i < program_.steps.size(); ++i)
                if (!is_sharded_[i] && reads_result(i, id)) return true;
        }
        for (const std::size_t input : gathered_after(number))
            gathered += program_.inputs[input].shape.byte_count();
        return gathered > sent;
    }

    /// Whether it touches the sum, and is not of the stage that makes it.
    bool reads_result(std::size_t number, BufferId sum) const {
        const Step& step = program_.steps[number];
        if (std::ranges::count(step.reads, sum) + std::ranges::count(step.writes, sum) == 0)
            return false;
        return std::ranges::none_of(program_.stages, [&](const Stage& stage) {
            return number >= stage.first_step && number < stage.first_step + stage.step_count &&
                   std::ranges::count(stage.sums, sum, &Sum::buffer) > 0;
        });
    }

    bool remove_some() {
        bool removed = false;
        for (std::size_t i = 0; i < is_sharded_.size(); ++i) {
            if (!is_sharded_[i] || !must_remove(i)) continue;
            is_sharded_[i] = false;
            removed = true;
        }
        return removed;
    }

    ShardPlan plan() const {
        ShardPlan plan{.steps = is_sharded_, .sums = {}, .gathered = {}, .in_shards = {}};
        for (std::size_t i = 0; i < is_sharded_.size(); ++i) {
            if (!is_sharded_[i]) continue;
            const Step& step = program_.steps[i];
            for (const BufferId id : step.reads)
                if (program_.buffers[id].region == Region::sum) plan.sums.push_back(id);
            for (const std::size_t input : gathered_after(i))
                plan.gathered.push_back({i, input});
            for (const BufferId id : step.writes)
                if (is_state(i, *input_of(id))) plan.in_shards.push_back(*input_of(id));
        }
        std::ranges::sort(plan.sums);
        plan.sums.erase(std::ranges::unique(plan.sums).begin(), plan.sums.end());
        std::ranges::sort(plan.in_shards);
        return plan;
    }

    const Program& program_;
    const ShardedUpdate& update_;
    std::vector<bool> is_sharded_;
};

}    // namespace

ShardPlan make_shard_plan(const Program& program, const ShardedUpdate& update) {
    return ShardPlanner(program, update).run();
}

}    // namespace slipway
