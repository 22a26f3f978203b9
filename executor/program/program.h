#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/tensor/array.h"
#include "executor/tensor/shape.h"

/// The narrow waist between compiler and runtime: a flat list of steps that declare which buffers
/// they read and write, and where every buffer lives. Data only: codegen makes it, runtime runs it,
/// and neither knows the other.
namespace slipway {

/// Where a buffer lives. The region decides how many copies there are and who gives the memory.
enum class Region : std::uint8_t {
    input,       ///< the caller's array, one or one per core; written only when donated
    output,      ///< a new array for the caller, one or one per core
    constant,    ///< bytes of the program; never written
    worker,      ///< arena of each worker: per-core temporaries, valid in one stage of one core
    core,        ///< arena of each core: per-core temporaries that outlive their stage
    shared,      ///< one arena: replicated temporaries
    sum          ///< each core's contribution to an all_reduce; after its stage, the result
};
inline constexpr std::size_t region_count = 7;

std::string_view to_string(Region region);

using BufferId = std::uint32_t;

/// A dense value in memory. Two buffers may share bytes when they are not alive together.
struct Buffer {
    Shape shape;
    Region region = Region::worker;
    std::size_t position = 0;    ///< input, output: which one
    std::int64_t offset = 0;     ///< other regions: bytes from the arena's start, multiple of 64
    /// Region worker: replicas that run together have this one in turn, each from its first use to
    /// its last in one go (Step::continues): scratch memory, and what lives no longer than that.
    bool is_in_turn = false;
};

/// What a kernel is given. Pointers are in the order of Step::reads and Step::writes.
struct KernelCall {
    std::span<const std::byte* const> reads;
    std::span<std::byte* const> writes;
    std::int64_t begin = 0, end = 0;    ///< the elements to compute: 0..Step::elements or a slice
    int worker = 0;                     ///< 0..workers-1: for state that a kernel keeps per worker
};

/// Computes one step. Made and validated by codegen: a run trusts its arguments. Called from
/// several workers at once, each with its own `worker`. An exception ends the run (see runtime).
using Kernel = std::function<void(const KernelCall&)>;

struct Step {
    std::string name;    ///< for people: the operation and what matters about it
    std::vector<BufferId> reads;
    std::vector<BufferId> writes;    ///< results first, then scratch memory
    /// (index in reads, index in writes) that may be the same bytes, exactly: the kernel reads an
    /// element before it writes it.
    std::vector<std::pair<std::size_t, std::size_t>> in_place;
    /// > 0: an elementwise step over so many elements; any slice may be computed alone, and element
    /// i of every buffer with so many elements is touched only by element i of the step.
    std::int64_t elements = 0;
    Kernel kernel;
    /// Of a replicated stage, for all cores, or of a stage's block steps, for those of a block: a
    /// read of a per-core buffer is given once for each core, in their order; where it has
    /// elements, which are many numbers each, it is worth slicing however few.
    bool batches_cores = false;
    /// Of a replicated stage: its elements are many numbers each, so it is worth slicing however
    /// few there are, and a slice may begin at any of them. Every slice reads all of what the step
    /// reads. Scratch memory has an equal part for each worker.
    bool has_coarse_elements = false;
    /// In a per-core stage: computes all replicas of a block at once, given the first one's
    /// operands (Program::replicas_together); the same bits as `kernel` for each. Empty: none.
    Kernel together = {};
    /// In a per-core stage whose replicas run together: a replica goes on with it after the step
    /// before, and the other replicas follow when it has done both. Without `together`.
    bool continues = false;
};

enum class Combine : std::uint8_t { add, maximum, minimum };

/// Cores that a step may batch where there are more, or other processes: always the same blocks of
/// the fixed tree, so that the bits do not depend on how many a process has.
inline constexpr int block_cores = 8;

/// An all_reduce at the end of a per-core stage: `buffer` (region sum) holds each core's
/// contribution before, and their combination by the fixed tree over core numbers after.
struct Sum {
    BufferId buffer = 0;
    Combine combine = Combine::add;
    bool by_block = false;    ///< a block step makes one contribution for all cores of a block
    /// Of f32: with several blocks of block_cores cores, here or elsewhere, the sum of each is
    /// rounded to bf16, and so is the sum of all.
    bool rounds_to_bf16 = false;
    /// Of replicas that run together: a buffer of region worker or core, of no step and not in
    /// turn, whose bytes of all replicas hold the contributions that wait to be added to another
    /// one. None: they wait in memory of each worker's own, laid out as region sum.
    std::optional<BufferId> waiting = {};
};

/// Consecutive steps run for each core (per_core) or once (replicated).
struct Stage {
    bool per_core = false;
    std::size_t first_step = 0;
    std::size_t step_count = 0;
    std::vector<Sum> sums;    ///< per_core only
    /// per_core only: the last so many steps are run once for each block of block_cores cores, when
    /// all cores have run the others.
    std::size_t block_step_count = 0;
};

/// A value that the caller binds or receives.
struct Slot {
    Shape shape;
    bool per_core = false;
    /// input: overwritten by an output. output: the input whose memory it takes over.
    std::optional<std::size_t> donated;
};

struct Program {
    std::vector<Slot> inputs;
    std::vector<Slot> outputs;
    std::vector<Buffer> buffers;
    std::vector<Step> steps;
    std::vector<Stage> stages;    ///< in order; they cover all steps
    int cores = 0;                ///< that it was made for; 0: it runs on any number
    /// > 1: each step of a per-core stage is run for all replicas of a block, so many, before the
    /// next step that does not continue it, and the regions worker and core hold a buffer's
    /// replicas one after the other, at multiples of 64 bytes, or one in turn. An offset counts so
    /// many times. A contribution to a sum is then touched by one step alone.
    int replicas_together = 1;
    Array constants;    ///< u8 bytes of region constant; may be empty
    std::array<std::int64_t, region_count>
        arena_bytes{};              ///< worker, core, shared, sum: one copy
    std::int64_t code_bytes = 0;    ///< machine code of its loop kernels, each counted once
};

/// Whether each core has a buffer of its own.
inline bool is_per_core(const Program& program, const Buffer& buffer) {
    switch (buffer.region) {
        case Region::input:
            return program.inputs[buffer.position].per_core;
        case Region::output:
            return program.outputs[buffer.position].per_core;
        default:
            return buffer.region == Region::worker || buffer.region == Region::core;
    }
}

/// The bytes of a buffer that count for each replica in the regions worker and core.
inline std::int64_t bytes_of_replica(const Program& program, const Buffer& buffer) {
    const std::int64_t bytes = buffer.shape.byte_count();
    const int sharers = buffer.is_in_turn ? program.replicas_together : 1;
    return (bytes + sharers - 1) / sharers;
}

/// What a worker takes for each contribution that waits in memory of its own.
std::int64_t bytes_of_partial(const Program& program);

/// Steps that a replica runs in one go, both ends included.
struct StepRange {
    std::size_t first = 0, last = 0;
};

/// By step, where replicas run together; elsewhere, and where nothing continues, each by itself.
std::vector<StepRange> steps_in_one_go(const Program& program);

inline std::int64_t constant_bytes(const Program& program) {
    return program.constants.empty() ? 0 : program.constants.byte_count();
}

/// What is wrong with a program, in words; empty when it may run: every read was written before,
/// no two buffers that are alive together share bytes (but in_place pairs), stages write only what
/// is theirs, donated inputs are the only inputs written, every output is written.
std::vector<std::string> find_problems(const Program& program);

/// The program as text: stable for equal programs.
std::string print(const Program& program);

}    // namespace slipway
