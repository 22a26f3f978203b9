// Planning memory is packing rectangles: a buffer takes bytes for a range of steps. The best
// packing is too costly to find, so the largest buffers are placed first, each into the smallest
// gap among those that are alive with it. Before that, a result takes over the bytes of an operand
// that ends with the same step where the step allows it: the chain is one block with one life.
//
// What the functions keep: two blocks of one region whose lives overlap share no byte. A per-core
// stage is run once for each core, so what the cores share is alive for the whole stage: the next
// core begins the stage's steps again. Offsets depend on the program alone, never on addresses, so
// equal graphs have equal plans.

#include "executor/codegen/buffers.h"

#include <algorithm>
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
    std::int64_t offset = -1;
};

bool lies_in_arena(const Buffer& buffer) {
    return buffer.region == Region::worker || buffer.region == Region::core ||
           buffer.region == Region::shared || buffer.region == Region::sum;
}

class Planner {
public:
    explicit Planner(Program& program)
        : program_(program), lives_(program.buffers.size()), block_of_(program.buffers.size()) {}

    void run() {
        program_.arena_bytes = {};
        find_lives();
        make_blocks();
        place_blocks();
        for (BufferId id = 0; id < program_.buffers.size(); ++id)
            if (block_of_[id]) program_.buffers[id].offset = blocks_[*block_of_[id]].offset;
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
            for (const Sum& sum : stage.sums)
                lives_[sum.buffer].include(stage.first_step, last);
        }
    }

    /// What cores share is taken for the whole of a per-core stage: the next core begins it anew.
    void use(const Stage& stage, std::size_t step, BufferId id) {
        const Region region = program_.buffers[id].region;
        if (stage.per_core && (region == Region::shared || region == Region::sum))
            lives_[id].include(stage.first_step, stage.first_step + stage.step_count - 1);
        else
            lives_[id].include(step, step);
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
            }
        }
    }

    std::size_t add_block(BufferId id) {
        const Buffer& buffer = program_.buffers[id];
        const std::int64_t bytes =
            (buffer.shape.byte_count() + alignment - 1) / alignment * alignment;
        blocks_.push_back({.region = buffer.region, .bytes = bytes, .life = lives_[id]});
        return blocks_.size() - 1;
    }

    /// The block of an operand that ends with this step and may become result number `write`.
    std::optional<std::size_t> heir_of(const Step& step, std::size_t step_number,
                                       std::size_t write) const {
        const Buffer& result = program_.buffers[step.writes[write]];
        const Life& result_life = lives_[step.writes[write]];
        for (const auto& [read, target] : step.in_place) {
            const BufferId id = step.reads[read];
            const Buffer& operand = program_.buffers[id];
            // A sum is read by all cores, which write their next contributions one after the other.
            const bool fits = target == write && operand.region == result.region &&
                              operand.region != Region::sum && lies_in_arena(operand) &&
                              operand.shape.byte_count() == result.shape.byte_count() &&
                              lives_[id].last == step_number && result_life.first == step_number &&
                              block_of_[id] && blocks_[*block_of_[id]].life.last == step_number;
            if (fits) return block_of_[id];
        }
        return {};
    }

    void place_blocks() {
        std::vector<std::size_t> by_size(blocks_.size());
        std::iota(by_size.begin(), by_size.end(), std::size_t{0});
        std::ranges::stable_sort(by_size, std::greater<>(),
                                 [&](std::size_t i) { return blocks_[i].bytes; });
        std::vector<std::size_t> placed;    // by offset
        for (const std::size_t i : by_size) {
            Block& block = blocks_[i];
            block.offset = best_gap(block, placed);
            std::int64_t& arena = program_.arena_bytes[std::size_t(block.region)];
            arena = std::max(arena, block.offset + block.bytes);
            const auto at = std::ranges::upper_bound(
                placed, block.offset, {}, [&](std::size_t k) { return blocks_[k].offset; });
            placed.insert(at, i);
        }
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

    Program& program_;
    std::vector<Life> lives_;                             ///< by buffer
    std::vector<std::optional<std::size_t>> block_of_;    ///< by buffer
    std::vector<Block> blocks_;
};

}    // namespace

void place_buffers(Program& program) {
    Planner(program).run();
}

}    // namespace slipway
