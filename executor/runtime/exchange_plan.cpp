// Contributions of the cores are complete when all cores have run; those of block steps, which are
// most of a transformer's gradients, each as soon as its step is done. The former are exchanged in
// the order in which they are used, so that the first updates run while the others' sums travel,
// the latter in the order in which they are made; a few megabytes at a time: small parts would cost
// a round trip each, and large ones would leave nothing to hide the last one. A step waits for the
// last part that it reads. A stage whose contributions lie where earlier ones lay waits for them,
// too: the plan of memory knows when a sum has been read, not when it has been sent. What steps
// have updated a shard of (sharded_update.h) is gathered behind them, a few megabytes at a time,
// and nobody waits for it before the run ends.
#include "executor/runtime/exchange_plan.h"

#include <algorithm>
#include <utility>

namespace slipway {

namespace {

constexpr std::int64_t part_bytes_min = std::int64_t{4} << 20;

class ExchangePlanner {
public:
    ExchangePlanner(const Program& program, int cores, const std::optional<ShardedUpdate>& update)
        : program_(program), cores_(cores) {
        if (update) plan_.shards = make_shard_plan(program, *update);
        plan_.needed.assign(program.steps.size(), 0);
        plan_.has_several_blocks = cores > block_cores;
    }

    ExchangePlan run() {
        for (std::size_t stage = 0; stage < program_.stages.size(); ++stage) {
            wait_for_memory(program_.stages[stage]);
            wait_for_sums(program_.stages[stage]);
            add_parts(stage);
            add_gathered(stage);
        }
        return std::move(plan_);
    }

private:
    const Buffer& buffer_of(const Sum& sum) const { return program_.buffers[sum.buffer]; }

    void need(std::size_t step, std::uint32_t parts) {
        plan_.needed[step] = std::max(plan_.needed[step], parts);
    }

    void wait_for_sums(const Stage& stage) {
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i)
            for (const auto* ids : {&program_.steps[i].reads, &program_.steps[i].writes})
                for (const BufferId id : *ids)
                    need(i, parts_before(id));
    }

    /// Parts until that of the sum in this buffer; 0: it is none of an earlier stage.
    std::uint32_t parts_before(BufferId id) const {
        if (program_.buffers[id].region != Region::sum) return 0;
        for (std::size_t part = plan_.parts.size(); part-- > 0;)
            for (const std::size_t sum : plan_.parts[part].sums)
                if (program_.stages[plan_.parts[part].stage].sums[sum].buffer == id)
                    return std::uint32_t(part + 1);
        return 0;
    }

    void wait_for_memory(const Stage& stage) {
        const auto overlaps = [&](const Sum& earlier) {
            const Buffer& a = buffer_of(earlier);
            return std::ranges::any_of(stage.sums, [&](const Sum& sum) {
                const Buffer& b = buffer_of(sum);
                return a.offset < b.offset + b.shape.byte_count() &&
                       b.offset < a.offset + a.shape.byte_count();
            });
        };
        for (std::size_t part = 0; part < plan_.parts.size(); ++part)
            for (const std::size_t sum : plan_.parts[part].sums)
                if (overlaps(program_.stages[plan_.parts[part].stage].sums[sum]))
                    need(stage.first_step, std::uint32_t(part + 1));
    }

    void add_parts(std::size_t number) {
        const Stage& stage = program_.stages[number];
        ExchangePart part{.stage = number, .sums = {}};
        std::int64_t bytes = 0;
        for (const auto& [first_use, sum] : core_sums(stage)) {
            part.sums.push_back(sum);
            bytes += buffer_of(stage.sums[sum]).shape.byte_count();
            if (bytes < part_bytes_min) continue;
            plan_.parts.push_back(std::exchange(part, {.stage = number, .sums = {}}));
            bytes = 0;
        }
        if (!part.sums.empty()) plan_.parts.push_back(std::move(part));
        part = {.stage = number, .sums = {}, .by_block = true};
        bytes = 0;
        for (const auto& [last_step, sum] : block_sums(stage)) {
            part.sums.push_back(sum);
            part.last_step = last_step;
            // With several blocks what they have is added up when all block steps have run.
            part.ends_with_step = cores_ <= block_cores;
            bytes += buffer_of(stage.sums[sum]).shape.byte_count();
            if (bytes < part_bytes_min || !part.ends_with_step) continue;
            plan_.parts.push_back(
                std::exchange(part, {.stage = number, .sums = {}, .by_block = true}));
            bytes = 0;
        }
        if (!part.sums.empty()) plan_.parts.push_back(std::move(part));
    }

    void add_gathered(std::size_t number) {
        const Stage& stage = program_.stages[number];
        const ExchangePart none{
            .stage = number, .sums = {}, .last_step = 0, .ends_with_step = true, .by_block = false};
        ExchangePart part = none;
        std::int64_t bytes = 0;
        for (const auto& [step, input] : plan_.shards.gathered) {
            if (step < stage.first_step || step >= stage.first_step + stage.step_count) continue;
            part.gathered.push_back(input);
            part.last_step = step;
            bytes += program_.inputs[input].shape.byte_count();
            if (bytes < part_bytes_min) continue;
            plan_.parts.push_back(std::exchange(part, none));
            bytes = 0;
        }
        if (!part.gathered.empty()) plan_.parts.push_back(std::move(part));
    }

    /// (the first step after the stage that reads it, its number), in the order of the steps.
    std::vector<std::pair<std::size_t, std::size_t>> core_sums(const Stage& stage) const {
        std::vector<std::pair<std::size_t, std::size_t>> found;
        for (std::size_t i = 0; i < stage.sums.size(); ++i) {
            if (stage.sums[i].by_block) continue;
            std::size_t step = stage.first_step + stage.step_count;
            while (step < program_.steps.size() &&
                   std::ranges::count(program_.steps[step].reads, stage.sums[i].buffer) == 0)
                ++step;
            found.emplace_back(step, i);
        }
        std::ranges::sort(found);
        return found;
    }

    /// (the last step that touches it, its number), in the order of the steps.
    std::vector<std::pair<std::size_t, std::size_t>> block_sums(const Stage& stage) const {
        std::vector<std::pair<std::size_t, std::size_t>> found;
        for (std::size_t i = 0; i < stage.sums.size(); ++i) {
            if (!stage.sums[i].by_block) continue;
            std::size_t last = stage.first_step;
            for (std::size_t k = stage.first_step; k < stage.first_step + stage.step_count; ++k) {
                const Step& step = program_.steps[k];
                for (const auto* ids : {&step.reads, &step.writes})
                    if (std::ranges::count(*ids, stage.sums[i].buffer) > 0) last = k;
            }
            found.emplace_back(last, i);
        }
        std::ranges::sort(found);
        return found;
    }

    const Program& program_;
    const int cores_;
    ExchangePlan plan_;
};

ProcessRounding rounding_of(const Sum& sum, const ExchangePlan& plan) {
    if (!sum.rounds_to_bf16) return ProcessRounding::none;
    return plan.has_several_blocks ? ProcessRounding::result : ProcessRounding::all;
}

}    // namespace

ExchangePlan make_exchange_plan(const Program& program, int cores,
                                const std::optional<ShardedUpdate>& update) {
    return ExchangePlanner(program, cores, update).run();
}

std::vector<std::vector<ProcessValues>> values_of_parts(const Program& program,
                                                        const ExchangePlan& plan,
                                                        const ExchangeMemory& memory) {
    std::vector<std::vector<ProcessValues>> parts;
    for (const ExchangePart& part : plan.parts) {
        std::vector<ProcessValues>& of_part = parts.emplace_back();
        for (const std::size_t number : part.sums) {
            const Sum& sum = program.stages[part.stage].sums[number];
            const Buffer& buffer = program.buffers[sum.buffer];
            const bool scatters = std::ranges::binary_search(plan.shards.sums, sum.buffer);
            of_part.push_back(
                {sum.combine,
                 buffer.shape.dtype,
                 {memory.sums + buffer.offset, std::size_t(buffer.shape.byte_count())},
                 rounding_of(sum, plan),
                 scatters ? Transfer::reduce_scatter : Transfer::all_reduce});
        }
        for (const std::size_t input : part.gathered) {
            const Shape& shape = program.inputs[input].shape;
            of_part.push_back({Combine::add,
                               shape.dtype,
                               {memory.inputs[input][0], std::size_t(shape.byte_count())},
                               ProcessRounding::none,
                               Transfer::gather_shards});
        }
    }
    return parts;
}

std::int64_t exchange_bytes(const Program& program, const ExchangePlan& plan,
                            const Collectives& collectives) {
    std::int64_t largest = 0;
    std::int64_t all = 0;
    for (const ExchangePart& part : plan.parts)
        for (const std::size_t sum : part.sums) {
            const Sum& each = program.stages[part.stage].sums[sum];
            std::int64_t bytes = program.buffers[each.buffer].shape.byte_count();
            if (rounding_of(each, plan) == ProcessRounding::all) bytes /= 2;
            largest = std::max(largest, bytes);
            all += bytes;
        }
    const std::int64_t packed = std::min(all, packed_bytes_max);
    const std::int64_t sent = std::min(std::max(largest, packed), sent_bytes_max);
    return packed + collectives.staging_bytes(sent);
}

}    // namespace slipway
