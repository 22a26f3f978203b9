// Planning memory is packing rectangles: a buffer takes bytes for a range of steps. The best
// packing is too costly to find, so the largest buffers are placed first, each into the smallest
// gap among those that are alive with it. Before that, a result takes over the bytes of an operand
// that ends with the same step where the step allows it: the chain is one block with one life.
//
// What the functions keep: two blocks of one region whose lives overlap share no byte. A per-core
// stage is run once for each core, so what the cores share is alive for the whole stage: the next
// core begins the stage's steps again. So is what replicas that run together have each of its own,
// for the steps that a replica runs in one go. Offsets depend on the program alone, never on
// addresses, so equal graphs have equal plans.

#include "executor/codegen/buffers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

namespace slipway {

namespace {

constexpr std::int64_t alignment = 64;

/// The steps during which a buffer's bytes are taken, both ends included.
struct Life {
    std::size_t first = std::numeric_limits<std::size_t>::max();
    std::size_t last = 0;

    bool is_used() const { return first <= last; }
    void include(std::size_t begin, std::size_t end) {
        first = std::min(first, begin);
        last = std::max(last, end);
    }
    bool overlaps(const Life& other) const { return first <= other.last && other.first <= last; }
};

/// Buffers that follow each other in the same bytes.
struct Block {
    Region region = Region::worker;
    std::int64_t bytes = 0;
    Life life;
    std::size_t last_use = 0;    ///< by one replica; the life may last longer
    std::int64_t offset = -1;
};

bool lies_in_arena(const Buffer& buffer) {
    return buffer.region == Region::worker || buffer.region == Region::core ||
           buffer.region == Region::shared || buffer.region == Region::sum;
}

/// Whether replicas have it each of its own.
bool lies_by_replica(const Buffer& buffer) {
    return (buffer.region == Region::worker || buffer.region == Region::core) && !buffer.is_in_turn;
}

std::int64_t in_lines(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t writer_of(const Program& program, const Stage& stage, BufferId id) {
    std::size_t step = stage.first_step;
    while (std::ranges::count(program.steps[step].writes, id) == 0)
        ++step;
    return step;
}

class Planner {
public:
    explicit Planner(const Program& program)
        : program_(program),
          lives_(program.buffers.size()),
          uses_(program.buffers.size()),
          in_one_go_(steps_in_one_go(program)),
          block_of_(program.buffers.size()) {}

    void place(Program& program) {
        find_lives();
        make_blocks();
        program.arena_bytes = place_blocks();
        for (BufferId id = 0; id < program.buffers.size(); ++id)
            if (block_of_[id]) program.buffers[id].offset = blocks_[*block_of_[id]].offset;
    }

    std::size_t fullest_step() {
        find_lives();
        make_blocks();
        std::vector<std::int64_t> more(program_.steps.size() + 1);    // bytes than a step before
        for (const Block& block : blocks_) {
            if (block.region != Region::worker && block.region != Region::core) continue;
            more[block.life.first] += block.bytes;
            more[block.life.last + 1] -= block.bytes;
        }
        std::inclusive_scan(more.begin(), more.end(), more.begin());
        const auto most = std::ranges::max_element(more);
        return *most > 0 ? std::size_t(most - more.begin()) : program_.steps.size();
    }

private:
    void find_lives() {
        for (const Stage& stage : program_.stages) {
            const std::size_t last = stage.first_step + stage.step_count - 1;
            for (std::size_t i = stage.first_step; i <= last; ++i) {
                for (const auto* ids : {&program_.steps[i].reads, &program_.steps[i].writes})
                    for (const BufferId id : *ids)
                        use(stage, i, id);
            }
            for (const Sum& sum : stage.sums) {
                uses_[sum.buffer].include(stage.first_step, last);
                lives_[sum.buffer].include(stage.first_step, last);
                if (sum.waiting) use(stage, writer_of(program_, stage, sum.buffer), *sum.waiting);
            }
        }
    }

    /// What cores share is taken for the whole of a per-core stage: the next core begins it anew.
    void use(const Stage& stage, std::size_t step, BufferId id) {
        const Buffer& buffer = program_.buffers[id];
        StepRange range{step, step};
        if (stage.per_core && (buffer.region == Region::shared || buffer.region == Region::sum))
            range = {stage.first_step, stage.first_step + stage.step_count - 1};
        uses_[id].include(range.first, range.last);
        if (stage.per_core && lies_by_replica(buffer)) range = in_one_go_[step];
        lives_[id].include(range.first, range.last);
    }

    void make_blocks() {
        for (std::size_t i = 0; i < program_.steps.size(); ++i) {
            const Step& step = program_.steps[i];
            for (std::size_t k = 0; k < step.writes.size(); ++k) {
                const BufferId id = step.writes[k];
                if (block_of_[id] || !lies_in_arena(program_.buffers[id])) continue;
                const std::optional<std::size_t> inherited = heir_of(step, i, k);
                block_of_[id] = inherited ? *inherited : add_block(id);
                Block& block = blocks_[*block_of_[id]];
                block.life.include(lives_[id].first, lives_[id].last);
                block.last_use = std::max(block.last_use, uses_[id].last);
            }
        }
        for (const Stage& stage : program_.stages)
            for (const Sum& sum : stage.sums)
                if (sum.waiting) block_of_[*sum.waiting] = add_block(*sum.waiting);
    }

    std::size_t add_block(BufferId id) {
        const Buffer& buffer = program_.buffers[id];
        const std::int64_t bytes = in_lines(bytes_of_replica(program_, buffer));
        blocks_.push_back({.region = buffer.region,
                           .bytes = bytes,
                           .life = lives_[id],
                           .last_use = uses_[id].last});
        return blocks_.size() - 1;
    }

    /// The block of an operand that ends with this step and may become result number `write`.
    std::optional<std::size_t> heir_of(const Step& step, std::size_t step_number,
                                       std::size_t write) const {
        const Buffer& result = program_.buffers[step.writes[write]];
        const Life& result_use = uses_[step.writes[write]];
        for (const auto& [read, target] : step.in_place) {
            const BufferId id = step.reads[read];
            const Buffer& operand = program_.buffers[id];
            // A sum is read by all cores, which write their next contributions one after the other.
            const bool fits = target == write && operand.region == result.region &&
                              operand.region != Region::sum && lies_in_arena(operand) &&
                              operand.shape.byte_count() == result.shape.byte_count() &&
                              operand.is_in_turn == result.is_in_turn &&
                              uses_[id].last == step_number && result_use.first == step_number &&
                              block_of_[id] && blocks_[*block_of_[id]].last_use == step_number;
            if (fits) return block_of_[id];
        }
        return {};
    }

    /// returns  the bytes of the arenas
    std::array<std::int64_t, region_count> place_blocks() {
        std::array<std::int64_t, region_count> arenas{};
        std::vector<std::size_t> by_size(blocks_.size());
        std::iota(by_size.begin(), by_size.end(), std::size_t{0});
        std::ranges::stable_sort(by_size, std::greater<>(),
                                 [&](std::size_t i) { return blocks_[i].bytes; });
        std::vector<std::size_t> placed;    // by offset
        for (const std::size_t i : by_size) {
            Block& block = blocks_[i];
            block.offset = best_gap(block, placed);
            std::int64_t& arena = arenas[std::size_t(block.region)];
            arena = std::max(arena, block.offset + block.bytes);
            const auto at = std::ranges::upper_bound(
                placed, block.offset, {}, [&](std::size_t k) { return blocks_[k].offset; });
            placed.insert(at, i);
        }
        return arenas;
    }

    /// The smallest gap between neighbours in time that the block fits into; else after them all.
    std::int64_t best_gap(const Block& block, const std::vector<std::size_t>& placed) const {
        std::int64_t end = 0;
        std::int64_t best = -1;
        std::int64_t best_room = std::numeric_limits<std::int64_t>::max();
        for (const std::size_t k : placed) {
            const Block& other = blocks_[k];
            if (other.region != block.region || !other.life.overlaps(block.life)) continue;
            const std::int64_t room = other.offset - end;
            if (room >= block.bytes && room < best_room) {
                best = end;
                best_room = room;
            }
            end = std::max(end, other.offset + other.bytes);
        }
        return best >= 0 ? best : end;
    }

    const Program& program_;
    std::vector<Life> lives_;                             ///< by buffer
    std::vector<Life> uses_;                              ///< the same of one replica
    const std::vector<StepRange> in_one_go_;              ///< by step
    std::vector<std::optional<std::size_t>> block_of_;    ///< by buffer
    std::vector<Block> blocks_;
};

}    // namespace

void place_buffers(Program& program) {
    Planner(program).place(program);
}

std::size_t fullest_step(const Program& program) {
    return Planner(program).fullest_step();
}

}    // namespace slipway
