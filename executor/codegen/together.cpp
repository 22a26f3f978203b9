#include "executor/codegen/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/codegen/telling_operands.h"
#include "executor/tensor/array.h"

// Bits may not depend on how many replicas a worker has. The library says nothing about that, and
// it may choose another way for more images. So both kernels are run on the same numbers when the
// program is made, and one that does not give the same bits is not used. The numbers are such that
// nothing but rounding is left of each sum (telling_operands.h): an order of additions that differs
// shows in most results, in bf16 as in f32. Sums of ordinary numbers were compared before. In bf16
// they hid orders that differ, and trained weights depended on the number of workers
// (docs/decisions/0097). What is compared is deterministic: the same kernels give the same answer
// each time.
namespace slipway {

namespace {

/// Where all of a view lies, in elements.
std::int64_t extent_of(const View& view) {
    std::int64_t last = view.offset;
    for (std::size_t i = 0; i < view.dims.size(); ++i)
        last += (view.dims[i] - 1) * std::max<std::int64_t>(0, view.strides[i]);
    return last + 1;
}

Array zeros(std::int64_t bytes) {
    Array array({DType::u8, {std::max<std::int64_t>(1, bytes)}});
    std::memset(array.bytes(), 0, std::size_t(array.byte_count()));
    return array;
}

/// In whole lines of the cache, as replicas lie.
std::int64_t in_lines(std::int64_t bytes) {
    constexpr std::int64_t line = 64;
    return (bytes + line - 1) / line * line;
}

/// What a kernel reads and writes for each replica, and the weights that it reads for all.
struct Operands {
    DType dtype;
    std::int64_t read_bytes, written_bytes, weights_bytes;

    std::int64_t read_step() const { return in_lines(read_bytes); }
    std::int64_t written_step() const { return in_lines(written_bytes); }
    /// Whether there is nothing between one replica and the next.
    bool read_close() const { return read_step() == read_bytes; }
    bool written_close() const { return written_step() == written_bytes; }
    bool lie_close() const { return read_close() && written_close(); }
    /// Of a replica: what has to be copied to lie close.
    std::int64_t apart_bytes() const {
        return (read_close() ? 0 : read_bytes) + (written_close() ? 0 : written_bytes);
    }
    std::int64_t own_bytes() const { return read_bytes + written_bytes; }
};

/// What is read and what is written, as one replica has them.
struct Sides {
    const View& from;
    const View& to;

    explicit Sides(const ConvolutionSpec& spec)
        : from(spec.kind == ConvolutionKind::forward ? spec.x : spec.y),
          to(spec.kind == ConvolutionKind::forward ? spec.y : spec.x) {}
};

std::int64_t bytes_of(std::int64_t elements, DType dtype) {
    return elements * std::int64_t(size_in_bytes(dtype));
}

Operands operands_of(const ConvolutionSpec& spec) {
    const Sides sides(spec);
    return {spec.operands, bytes_of(element_count(sides.from), spec.operands),
            bytes_of(element_count(sides.to), spec.results),
            bytes_of(extent_of(spec.w), spec.operands)};
}

Operands operands_of(const MatmulSpec& spec) {
    return {spec.operands, bytes_of(element_count(spec.lhs), spec.operands),
            bytes_of(element_count(spec.result), spec.results),
            bytes_of(extent_of(spec.rhs), spec.operands)};
}

/// A dimension of channels as [groups, channels of a group].
View with_groups(View view, std::size_t dimension, std::int64_t groups) {
    const auto at = std::ptrdiff_t(dimension);
    const std::int64_t of_group = view.dims[dimension] / groups;
    view.dims[dimension] = of_group;
    view.dims.insert(view.dims.begin() + at, groups);
    view.strides.insert(view.strides.begin() + at, view.strides[dimension] * of_group);
    return view;
}

/// What a kernel multiplies and adds up: one replica's operand and the weights, and where their
/// terms are.
struct Factors {
    View left, right;
    std::size_t left_terms, right_terms;    ///< dimensions

    explicit Factors(const MatmulSpec& spec)
        : left(spec.lhs), right(spec.rhs), left_terms(2), right_terms(1) {}
    explicit Factors(const ConvolutionSpec& spec)
        : left(with_groups(Sides(spec).from, 1, spec.w.dims[0])),
          right(spec.w),
          left_terms(2),
          right_terms(spec.kind == ConvolutionKind::forward ? 2 : 1) {}
};

/// The weights as the kernel reads them.
Array weights_for(const LibraryKernel& kernel, const Array& plain) {
    if (!kernel.packing) return plain;
    Array packed = zeros(kernel.packing->layout.byte_count);
    Array scratch = zeros(kernel.packing->scratch_bytes);
    const std::array reads{plain.bytes()};
    kernel.packing->kernel({.reads = reads,
                            .writes = std::array{packed.bytes(), scratch.bytes()},
                            .begin = 0,
                            .end = kernel.packing->elements});
    return packed;
}

/// Whether results tell anything: where terms are few and their sums exact, all are zero.
bool do_tell(const Array& results, std::int64_t bytes) {
    constexpr std::int64_t share = 16;
    const std::span all(results.bytes(), std::size_t(results.byte_count()));
    const auto zeros = std::ranges::count(all, std::byte{0});
    return std::int64_t(all.size()) - zeros >= bytes / share;
}

/// How often kernels of so few results are compared: what differs in a few terms of a few columns
/// does not show each time.
int rounds_for(std::int64_t result_bytes) {
    constexpr std::int64_t few_bytes = 1 << 18;
    return result_bytes < few_bytes ? 4 : 1;
}

bool have_equal_bits(const Operands& operands, const Factors& factors, const LibraryKernel& alone,
                     const LibraryKernel& together, int replicas) {
    const auto size = std::int64_t(size_in_bytes(operands.dtype));
    const TermPairs terms(factors.right.dims[factors.right_terms]);
    WideNumbers numbers(4711);
    Array images = zeros(operands.read_step() * replicas), plain = zeros(operands.weights_bytes);
    fill_operand(plain.bytes(), operands.dtype, factors.right, factors.right_terms, terms,
                 Side::right, numbers);
    const Array weights = weights_for(alone, plain);
    const std::int64_t result_bytes = operands.written_step() * replicas;
    Array one = zeros(result_bytes), all = zeros(result_bytes);
    Array scratch = zeros(std::max(alone.scratch_bytes, together.scratch_bytes));
    const auto run = [&](const Kernel& kernel, std::int64_t replica, Array& to) {
        const std::array<const std::byte*, 2> reads{
            std::as_const(images).bytes() + replica * operands.read_step(), weights.bytes()};
        kernel({.reads = reads,
                .writes =
                    std::array{to.bytes() + replica * operands.written_step(), scratch.bytes()}});
    };
    for (int round = 0; round < rounds_for(result_bytes); ++round) {
        for (int replica = 0; replica < replicas; ++replica) {
            View left = factors.left;
            left.offset += replica * operands.read_step() / size;
            fill_operand(images.bytes(), operands.dtype, left, factors.left_terms, terms,
                         Side::left, numbers);
        }
        for (int replica = 0; replica < replicas; ++replica)
            run(alone.kernel, replica, one);
        run(together.kernel, 0, all);
        if (!do_tell(one, operands.written_bytes * replicas) ||
            std::memcmp(one.bytes(), all.bytes(), std::size_t(result_bytes)) != 0)
            return false;
    }
    return true;
}

/// What was found out, by the shapes and the way: networks repeat their convolutions, and programs
/// those of others.
class KnownEquality {
public:
    template <class Find>
    bool find_or_make(const std::string& key, Find find) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto known = answers_.find(key); known != answers_.end())
                return known->second;
        }
        const bool answer = find();
        const std::lock_guard lock(mutex_);
        return answers_.emplace(key, answer).first->second;
    }

private:
    std::mutex mutex_;
    std::map<std::string, bool> answers_;    ///< guarded by mutex_
};

KnownEquality& known_equality() {
    static KnownEquality known;
    return known;
}

std::string text_of(const View& view) {
    return fmt::format("{}/{}+{}", fmt::join(view.dims, ","), fmt::join(view.strides, ","),
                       view.offset);
}

std::string key_of(const ConvolutionSpec& one, const std::string& name, int replicas) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", name, replicas, int(one.kind),
                       int(one.operands), int(one.results), text_of(one.x), text_of(one.w),
                       text_of(one.y), fmt::join(one.strides, ","), fmt::join(one.dilations, ","),
                       fmt::join(one.padding_low, ","), fmt::join(one.padding_high, ","),
                       one.packs_weights);
}

std::string key_of(const MatmulSpec& one, const std::string& name, int replicas) {
    return fmt::format("{} {} {} {} {} {} {}", name, replicas, int(one.operands), int(one.results),
                       text_of(one.lhs), text_of(one.rhs), text_of(one.result));
}

bool are_packed_alike(const LibraryKernel& a, const LibraryKernel& b) {
    if (!a.packing || !b.packing) return !a.packing && !b.packing;
    return a.packing->packs_as(*b.packing);
}

/// `alone` for so many replicas at once where it is one kernel for all, else nothing.
/// limit  what both were cut by beside the spec
template <class Spec>
std::optional<LibraryKernel> if_equal(std::optional<LibraryKernel> together, const Spec& spec,
                                      const LibraryKernel& alone, int replicas,
                                      std::int64_t limit = 0) {
    if (!together || !are_packed_alike(alone, *together)) return {};
    const std::string ways = fmt::format("{}, {}, {}", alone.name, together->name, limit);
    const bool is_equal = known_equality().find_or_make(key_of(spec, ways, replicas), [&] {
        return have_equal_bits(operands_of(spec), Factors(spec), alone, *together, replicas);
    });
    if (!is_equal) return {};
    return together;
}

/// A kernel for the rows of some replicas in one matrix, for replicas whose rows lie apart: logits
/// of ten classes do not fill lines of the cache.
LibraryKernel with_copies(LibraryKernel close, const Operands& operands, int replicas) {
    if (operands.lie_close()) return close;
    const std::int64_t rows_bytes = operands.read_close() ? 0 : operands.read_bytes * replicas;
    const std::int64_t made_bytes =
        operands.written_close() ? 0 : operands.written_bytes * replicas;
    close.scratch_bytes += in_lines(rows_bytes) + in_lines(made_bytes);
    close.kernel = [=, inner = std::move(close.kernel)](const KernelCall& call) {
        std::byte* const rows = call.writes[1];
        std::byte* const made = rows + in_lines(rows_bytes);
        std::array reads{call.reads[0], call.reads[1]};
        std::array writes{call.writes[0], made + in_lines(made_bytes)};
        if (rows_bytes > 0) {
            for (int i = 0; i < replicas; ++i)
                std::memcpy(rows + i * operands.read_bytes,
                            call.reads[0] + i * operands.read_step(),
                            std::size_t(operands.read_bytes));
            reads[0] = rows;
        }
        if (made_bytes > 0) writes[0] = made;
        inner({.reads = reads, .writes = writes, .worker = call.worker});
        if (made_bytes == 0) return;
        for (int i = 0; i < replicas; ++i)
            std::memcpy(call.writes[0] + i * operands.written_step(),
                        made + i * operands.written_bytes, std::size_t(operands.written_bytes));
    };
    return close;
}

/// A kernel for some replicas, run for all.
LibraryKernel in_groups(LibraryKernel some, const Operands& operands, int at_once, int replicas) {
    if (at_once == replicas) return some;
    some.kernel = [=, inner = std::move(some.kernel)](const KernelCall& call) {
        std::vector<const std::byte*> reads(call.reads.begin(), call.reads.end());
        std::vector<std::byte*> writes(call.writes.begin(), call.writes.end());
        for (int first = 0; first < replicas; first += at_once) {
            inner({.reads = reads, .writes = writes, .worker = call.worker});
            reads[0] += operands.read_step() * at_once;
            writes[0] += operands.written_step() * at_once;
        }
    };
    return some;
}

}    // namespace

bool pays_together(const ConvolutionSpec& spec) {
    const Sides sides(spec);
    const Operands operands = operands_of(spec);
    return order_of(sides.from) && order_of(sides.to) && operands.lie_close() &&
           operands.own_bytes() <= operands.weights_bytes + operands.weights_bytes / 8;
}

bool is_worth_memory(const ConvolutionSpec& spec) {
    const Operands operands = operands_of(spec);
    return operands.own_bytes() <= operands.weights_bytes;
}

std::optional<LibraryKernel> make_together(const ConvolutionSpec& spec, const LibraryKernel& alone,
                                           const FilteringLimits& limits, int replicas,
                                           int workers) {
    ConvolutionSpec all = spec;
    all.x.dims[0] *= replicas;
    all.y.dims[0] *= replicas;
    return if_equal(alone.name.starts_with("filtered")
                        ? make_filtered_convolution(all, workers, limits)
                        : make_convolution(all, workers),
                    spec, alone, replicas, limits.tiles_min);
}

/// Each product copies the right matrix into the order of its kernel: of 512 rows that is a 25th of
/// the time in f32, which is worth memory where that matrix is the larger one. ms of CPU time of a
/// step of GPT-2 124M with 64 sequences on 8 cores of 2 workers: 13,530 one by one, 13,170 together
/// (two cores 12,950), in 2 % less memory. MLP-Mixer (512 to 2048) gained 1.7 % and took 39 % more.
bool are_few_rows(const MatmulSpec& spec, const Operands& operands) {
    constexpr std::int64_t few = 256, several = 512;
    if (spec.lhs.dims[1] <= few) return operands.own_bytes() <= 2 * operands.weights_bytes;
    return spec.operands == DType::f32 && spec.lhs.dims[1] <= several &&
           operands.own_bytes() <= operands.weights_bytes;
}

bool pays_together(const MatmulSpec& spec) {
    // Logits of all replicas would be given up first, and compared for half a second before.
    constexpr std::int64_t result_bytes_max = std::int64_t{8} << 20;
    constexpr std::int64_t copied_bytes_max = 4096;
    const Operands operands = operands_of(spec);
    const auto is_one = [](const View& view) { return view.dims.size() == 3 && view.dims[0] == 1; };
    return is_one(spec.lhs) && is_one(spec.rhs) && is_one(spec.result) && is_dense(spec.lhs) &&
           is_dense(spec.result) && are_few_rows(spec, operands) &&
           (spec.lhs.dims[1] == 1 || (operands.apart_bytes() <= copied_bytes_max && !spec.adds)) &&
           operands.written_bytes <= result_bytes_max;
}

/// The rows of some replicas as one matrix. Single rows are a replica's step apart.
View rows_of(const View& one, int replicas, std::int64_t step) {
    View all = dense_view({1, one.dims[1] * replicas, one.dims[2]});
    if (one.dims[1] == 1) {
        all.strides[1] = step;
        all.strides[0] = step * replicas;
    }
    return all;
}

std::optional<LibraryKernel> make_together(const MatmulSpec& spec, const LibraryKernel& alone,
                                           int replicas, int workers) {
    const Operands operands = operands_of(spec);
    for (int at_once = replicas; at_once > 1; at_once /= 2) {
        MatmulSpec all = spec;
        all.lhs = rows_of(spec.lhs, at_once,
                          operands.read_step() / std::int64_t(size_in_bytes(spec.operands)));
        all.result = rows_of(spec.result, at_once,
                             operands.written_step() / std::int64_t(size_in_bytes(spec.results)));
        auto rows =
            alone.name == "line_product" ? make_line_product(all) : make_matmul(all, workers);
        if (rows && spec.lhs.dims[1] > 1) rows = with_copies(*std::move(rows), operands, at_once);
        auto kernel = if_equal(std::move(rows), spec, alone, at_once);
        if (kernel) return in_groups(*std::move(kernel), operands, at_once, replicas);
    }
    return {};
}

}    // namespace slipway
