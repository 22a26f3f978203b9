#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "executor/program/program.h"
#include "executor/program/team.h"

// Checks a program as a whole, independently of what lowered it: every read sees bytes that were
// written before, every write goes where it may, and no two buffers that hold something at the same
// time share bytes. The life of a buffer is counted in steps; what the cores share lives for whole
// stages, since another core may run the stage's steps later. Lowering runs it on every program
// that it makes.
namespace slipway {

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

/// When a buffer holds something that somebody may still read, in step numbers.
struct Life {
    std::size_t first_write = never;
    std::size_t first = never;    ///< from here on nobody else may have its bytes
    std::size_t last = 0;
    std::size_t first_touch = never, last_touch = 0;    ///< by one replica
};

/// In whole lines of the cache, as replicas lie.
std::int64_t in_lines(const Buffer& buffer) {
    constexpr std::int64_t line_bytes = 64;
    return (buffer.shape.byte_count() + line_bytes - 1) / line_bytes * line_bytes;
}

bool is_arena(Region region) {
    return region != Region::input && region != Region::output;
}

class Verifier {
public:
    explicit Verifier(const Program& program)
        : program_(program), lives_(program.buffers.size()), in_one_go_(steps_in_one_go(program)) {}

    std::vector<std::string> problems() {
        check_stages();
        for (BufferId id = 0; id < program_.buffers.size(); ++id)
            check_buffer(id);
        if (!problems_.empty()) return std::move(problems_);
        for (const Stage& stage : program_.stages)
            check_stage(stage);
        if (!problems_.empty()) return std::move(problems_);
        check_overlaps();
        check_outputs();
        return std::move(problems_);
    }

private:
    template <class... Values>
    void problem(fmt::format_string<Values...> text, Values&&... values) {
        problems_.push_back(fmt::format(text, std::forward<Values>(values)...));
    }

    const std::vector<Slot>* slots_of(Region region) const {
        if (region == Region::input) return &program_.inputs;
        if (region == Region::output) return &program_.outputs;
        return nullptr;
    }

    void check_stages() {
        std::size_t next = 0;
        for (const Stage& stage : program_.stages) {
            if (stage.first_step != next) problem("a stage does not begin at step {}", next);
            if (!stage.per_core && !stage.sums.empty())
                problem("a replicated stage has an all_reduce");
            if (stage.block_step_count > (stage.per_core ? stage.step_count : 0))
                problem("a stage has more block steps than it can have");
            next += stage.step_count;
        }
        if (next != program_.steps.size())
            problem("stages cover {} of {} steps", next, program_.steps.size());
        for (const Step& step : program_.steps) {
            for (const auto* ids : {&step.reads, &step.writes})
                for (const BufferId id : *ids)
                    if (id >= program_.buffers.size())
                        problem("{}: there is no buffer %{}", step.name, id);
        }
    }

    void check_buffer(BufferId id) {
        const Buffer& buffer = program_.buffers[id];
        if (const auto* slots = slots_of(buffer.region)) {
            if (buffer.position >= slots->size() ||
                (*slots)[buffer.position].shape.byte_count() != buffer.shape.byte_count())
                problem("%{} does not fit {} {}", id, to_string(buffer.region), buffer.position);
            return;
        }
        const std::int64_t arena = buffer.region == Region::constant
                                       ? constant_bytes(program_)
                                       : program_.arena_bytes[std::size_t(buffer.region)];
        if (buffer.offset < 0 || buffer.offset + bytes_of_replica(program_, buffer) > arena)
            problem("%{} lies outside its arena {}", id, to_string(buffer.region));
        if (buffer.region != Region::constant && buffer.offset % 64 != 0)
            problem("%{} is not aligned", id);
    }

    void check_stage(const Stage& stage) {
        const std::size_t end = stage.first_step + stage.step_count;
        for (std::size_t i = stage.first_step; i < end; ++i) {
            const Step& step = program_.steps[i];
            if (!step.kernel) problem("{}: no kernel", step.name);
            if (stage.per_core && step.batches_cores != is_block_step(stage, i))
                problem("{}: a step of one core joins all", step.name);
            if (step.together) check_together(stage, step);
            if (step.continues) check_continues(stage, i);
            for (const BufferId id : step.reads)
                check_read(stage, i, id);
            check_in_place(step);
            for (const BufferId id : step.writes)
                check_write(stage, i, id);
        }
        for (const Sum& sum : stage.sums) {
            if (sum.buffer >= program_.buffers.size() ||
                program_.buffers[sum.buffer].region != Region::sum) {
                problem("all_reduce of a buffer outside region sum");
                continue;
            }
            if (sum.rounds_to_bf16 && (program_.buffers[sum.buffer].shape.dtype != DType::f32 ||
                                       sum.combine != Combine::add))
                problem("all_reduce of %{}, which is no sum of f32, is rounded to bf16",
                        sum.buffer);
            if (program_.replicas_together > 1 && !sum.by_block &&
                count_touches(stage, sum.buffer) != 1)
                problem("all_reduce of %{}, which replicas that run together touch in {} steps",
                        sum.buffer, count_touches(stage, sum.buffer));
            Life& life = lives_[sum.buffer];
            if (sum.by_block !=
                (life.first_write != never && is_block_step(stage, life.first_write)))
                problem("all_reduce of %{} is of cores and of blocks", sum.buffer);
            if (life.first_write == never || life.first_write < stage.first_step)
                problem("all_reduce of %{}, which its stage does not write", sum.buffer);
            life.first = std::min(life.first, stage.first_step);
            life.last = std::max(life.last, end == 0 ? 0 : end - 1);
            if (sum.waiting) check_waiting(stage, sum);
        }
    }

    /// All replicas' contributions of some steps in one go wait there, and nothing else does.
    void check_waiting(const Stage& stage, const Sum& sum) {
        const std::size_t writer = lives_[sum.buffer].first_write;
        if (program_.replicas_together < 2 || sum.by_block || *sum.waiting >= lives_.size()) {
            problem("all_reduce of %{}: no replica's contribution waits", sum.buffer);
            return;
        }
        const Buffer& waiting = program_.buffers[*sum.waiting];
        Life& life = lives_[*sum.waiting];
        const std::int64_t held = (partials_needed(program_.replicas_together) - 1) *
                                  in_lines(program_.buffers[sum.buffer]);
        const bool fits = (waiting.region == Region::worker || waiting.region == Region::core) &&
                          !waiting.is_in_turn &&
                          in_lines(waiting) * program_.replicas_together >= held;
        if (!fits || is_touched(*sum.waiting) || life.first != never)
            problem("contributions to %{} have no place in %{}", sum.buffer, *sum.waiting);
        if (writer == never) return;
        life.first_write = writer;
        touch(stage, writer, waiting, life);
        life.first_touch = life.first;    // by the other replicas
        life.last_touch = life.last;
    }

    bool is_touched(BufferId id) const {
        return std::ranges::any_of(program_.steps, [&](const Step& step) {
            return std::ranges::count(step.reads, id) > 0 ||
                   std::ranges::count(step.writes, id) > 0;
        });
    }

    /// What differs between the replicas lies where theirs are one after the other.
    void check_together(const Stage& stage, const Step& step) {
        if (!stage.per_core || program_.replicas_together < 2)
            problem("{}: no replicas run together", step.name);
        for (const auto* ids : {&step.reads, &step.writes})
            for (const BufferId id : *ids) {
                const Buffer& buffer = program_.buffers[id];
                const bool lies_apart =
                    buffer.region == Region::sum ||
                    (is_per_core(program_, buffer) && buffer.region != Region::worker &&
                     buffer.region != Region::core);
                if (lies_apart)
                    problem("{}: the replicas of %{} do not lie together", step.name, id);
            }
    }

    void check_continues(const Stage& stage, std::size_t i) {
        if (!stage.per_core || i == stage.first_step || is_block_step(stage, i) ||
            program_.steps[i].together || program_.steps[i - 1].together)
            problem("{}: no replica goes on with it", program_.steps[i].name);
    }

    std::int64_t count_touches(const Stage& stage, BufferId id) const {
        const auto first = program_.steps.begin() + std::ptrdiff_t(stage.first_step);
        return std::count_if(first, first + std::ptrdiff_t(stage.step_count),
                             [&](const Step& step) {
                                 return std::ranges::count(step.reads, id) > 0 ||
                                        std::ranges::count(step.writes, id) > 0;
                             });
    }

    static bool is_block_step(const Stage& stage, std::size_t step_number) {
        return step_number >= stage.first_step + stage.step_count - stage.block_step_count;
    }

    void check_read(const Stage& stage, std::size_t step_number, BufferId id) {
        const Step& step = program_.steps[step_number];
        const Buffer& buffer = program_.buffers[id];
        Life& life = lives_[id];
        if (!stage.per_core && is_per_core(program_, buffer) && !step.batches_cores)
            problem("{}: a replicated step reads %{} of one core", step.name, id);
        if (buffer.region == Region::input || buffer.region == Region::constant) return;
        if (life.first_write == never) problem("{}: %{} is read before written", step.name, id);
        if (buffer.region == Region::worker && life.first_write < stage.first_step)
            problem("{}: %{} does not outlive its stage", step.name, id);
        if (buffer.region == Region::worker && stage.per_core && is_block_step(stage, step_number))
            problem("{}: %{} is gone when another core has run", step.name, id);
        touch(stage, step_number, buffer, life);
    }

    void check_write(const Stage& stage, std::size_t step_number, BufferId id) {
        const Step& step = program_.steps[step_number];
        const Buffer& buffer = program_.buffers[id];
        if (!may_write(stage, id))
            problem("{}: this stage may not write %{} in {}", step.name, id,
                    to_string(buffer.region));
        Life& life = lives_[id];
        life.first_write = std::min(life.first_write, step_number);
        touch(stage, step_number, buffer, life);
    }

    bool may_write(const Stage& stage, BufferId id) const {
        const Buffer& buffer = program_.buffers[id];
        switch (buffer.region) {
            case Region::constant:
                return false;
            case Region::input:
                return !stage.per_core && !is_per_core(program_, buffer) &&
                       program_.inputs[buffer.position].donated;
            case Region::sum:
                return stage.per_core && std::ranges::count(stage.sums, id, &Sum::buffer) == 1;
            default:
                return is_per_core(program_, buffer) == stage.per_core;
        }
    }

    /// Another core may run the stage's steps later, so what cores share lives for whole stages;
    /// and steps in one go, where each has its own.
    void touch(const Stage& stage, std::size_t step_number, const Buffer& buffer, Life& life) {
        StepRange range{step_number, step_number};
        if (stage.per_core && (buffer.region == Region::shared || buffer.region == Region::sum))
            range = {stage.first_step, stage.first_step + stage.step_count - 1};
        else if (stage.per_core && !buffer.is_in_turn)
            range = in_one_go_[step_number];
        life.first = std::min(life.first, range.first);
        life.last = std::max(life.last, range.last);
        life.first_touch = std::min(life.first_touch, step_number);
        life.last_touch = std::max(life.last_touch, step_number);
    }

    void check_in_place(const Step& step) {
        for (const auto& [read, write] : step.in_place) {
            if (read >= step.reads.size() || write >= step.writes.size()) {
                problem("{}: in_place names no buffer", step.name);
                continue;
            }
            const BufferId id = step.reads[read];
            for (std::size_t other = 0; other < step.reads.size(); ++other)
                if (step.reads[other] == id &&
                    !std::ranges::count(step.in_place, std::pair(other, write)))
                    problem("{}: read {} forbids the reuse of %{}", step.name, other, id);
        }
    }

    bool overlap(const Buffer& a, const Buffer& b) const {
        return a.region == b.region && is_arena(a.region) && a.region != Region::constant &&
               a.offset < b.offset + bytes_of_replica(program_, b) &&
               b.offset < a.offset + bytes_of_replica(program_, a);
    }

    bool handed_over(BufferId from, BufferId to) const {
        const Life& source = lives_[from];
        const Buffer& a = program_.buffers[from];
        const Buffer& b = program_.buffers[to];
        if (a.region == Region::sum) return false;    // the next core still reads it
        if (a.offset != b.offset || a.shape.byte_count() != b.shape.byte_count()) return false;
        if (a.is_in_turn != b.is_in_turn) return false;
        if (source.last_touch != lives_[to].first_touch) return false;
        const Step& step = program_.steps[source.last_touch];
        return std::ranges::any_of(step.in_place, [&](const auto& pair) {
            return step.reads[pair.first] == from && step.writes[pair.second] == to;
        });
    }

    /// Replicas have both in the same bytes of their own, and each replica one after the other.
    bool follow_each_other(BufferId a, BufferId b) const {
        const Buffer& x = program_.buffers[a];
        const Buffer& y = program_.buffers[b];
        return (x.region == Region::worker || x.region == Region::core) && !x.is_in_turn &&
               !y.is_in_turn && x.offset == y.offset && in_lines(x) == in_lines(y) &&
               (lives_[a].last_touch < lives_[b].first_touch ||
                lives_[b].last_touch < lives_[a].first_touch);
    }

    void check_in_turn(BufferId id) {
        const Life& life = lives_[id];
        if (program_.replicas_together < 2 || !program_.buffers[id].is_in_turn ||
            life.first_touch == never)
            return;
        const Region region = program_.buffers[id].region;
        if ((region != Region::worker && region != Region::core) ||
            in_one_go_[life.first_touch].last < life.last_touch)
            problem("%{} is not done with when the next replica has it", id);
    }

    void check_overlaps() {
        std::vector<BufferId> by_first;
        for (BufferId id = 0; id < program_.buffers.size(); ++id)
            check_in_turn(id);
        for (BufferId id = 0; id < program_.buffers.size(); ++id)
            if (lives_[id].first != never && is_arena(program_.buffers[id].region))
                by_first.push_back(id);
        std::ranges::stable_sort(by_first, {}, [&](BufferId id) { return lives_[id].first; });
        for (std::size_t i = 0; i < by_first.size(); ++i) {
            const BufferId a = by_first[i];
            for (std::size_t j = i + 1; j < by_first.size(); ++j) {
                const BufferId b = by_first[j];
                if (lives_[b].first > lives_[a].last) break;
                if (!overlap(program_.buffers[a], program_.buffers[b])) continue;
                if (!handed_over(a, b) && !handed_over(b, a) && !follow_each_other(a, b))
                    problem("%{} and %{} are alive together and share bytes", a, b);
            }
        }
    }

    void check_outputs() {
        for (std::size_t position = 0; position < program_.outputs.size(); ++position) {
            const Slot& slot = program_.outputs[position];
            if (slot.donated) {
                if (*slot.donated >= program_.inputs.size() ||
                    program_.inputs[*slot.donated].donated != position)
                    problem("output {} takes over an input that is not given", position);
                continue;
            }
            bool written = false;
            for (BufferId id = 0; id < program_.buffers.size(); ++id)
                written = written || (program_.buffers[id].region == Region::output &&
                                      program_.buffers[id].position == position &&
                                      lives_[id].first_write != never);
            if (!written) problem("output {} is never written", position);
        }
    }

    const Program& program_;
    std::vector<Life> lives_;
    const std::vector<StepRange> in_one_go_;    ///< by step
    std::vector<std::string> problems_;
};

}    // namespace

std::vector<std::string> find_problems(const Program& program) {
    return Verifier(program).problems();
}

}    // namespace slipway
