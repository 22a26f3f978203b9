#include "executor/codegen/onednn/primitive.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

#include "api/base/error.h"
#include "executor/codegen/onednn/openmp.h"
#include "executor/codegen/onednn/packing.h"

// A primitive is created once, and each worker has its own memory objects, stream and part of the
// scratch memory, so a call allocates nothing and shares nothing. Operands whose layout differs
// from the one that the primitive wants are reordered into scratch memory within the call; those
// that live longer than a step (weights) are packed once, by a kernel of their own. The library's
// threads are switched off: workers are ours.
namespace slipway::onednn {

namespace {

constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Sets this thread's OpenMP team size to one, and back.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int before_;
};

/// One operand of one worker: the memory object over the buffer, and one over scratch when the
/// layouts differ.
struct Bound {
    dnnl::memory plain;
    dnnl::memory wanted;
    std::optional<dnnl::reorder> reorder;
    std::int64_t scratch_offset = 0;
    std::int64_t byte_offset = 0;
};

void point(dnnl::memory& memory, std::byte* at) {
    // Pointing a memory object anew clears its padding: not for free, and rarely needed.
    if (memory.get_data_handle() != at) memory.set_data_handle(at);
}

bool is_packed(const Operand& operand) {
    return operand.packed && operand.plain != operand.wanted;
}

/// By the kernel itself.
bool is_reordered(const Operand& operand) {
    return !operand.packed && operand.plain != operand.wanted;
}

std::int64_t byte_offset(const Operand& operand) {
    return operand.offset * std::int64_t(dnnl::memory::data_type_size(operand.plain.data_type()));
}

/// The state of one worker.
struct Context {
    dnnl::stream stream;
    std::vector<Bound> reads;
    Bound result;
    dnnl::memory scratchpad;
    std::unordered_map<int, dnnl::memory> arguments;
};

class Assembled {
public:
    Assembled(const PrimitiveParts& parts, int workers) : primitive_(parts.primitive) {
        std::int64_t offset = aligned(std::int64_t(parts.scratchpad.get_size()));
        const auto reserve = [&](const Operand& operand) {
            const std::int64_t at = offset;
            if (is_reordered(operand)) offset += aligned(std::int64_t(operand.wanted.get_size()));
            return at;
        };
        std::vector<std::int64_t> read_offsets;
        for (const Operand& read : parts.reads)
            read_offsets.push_back(reserve(read));
        const std::int64_t result_offset = reserve(parts.result);
        scratch_bytes_ = offset;
        for (int worker = 0; worker < workers; ++worker) {
            Context& context = contexts_.emplace_back();
            context.stream = dnnl::stream(parts.engine);
            for (std::size_t i = 0; i < parts.reads.size(); ++i)
                context.reads.push_back(bind(parts.engine, parts.reads[i], read_offsets[i], true));
            context.result = bind(parts.engine, parts.result, result_offset, false);
            context.scratchpad = dnnl::memory(parts.scratchpad, parts.engine, nullptr);
            for (std::size_t i = 0; i < parts.reads.size(); ++i)
                context.arguments.emplace(parts.reads[i].argument, context.reads[i].wanted);
            context.arguments.emplace(parts.result.argument, context.result.wanted);
            context.arguments.emplace(DNNL_ARG_SCRATCHPAD, context.scratchpad);
        }
    }

    std::int64_t scratch_bytes() const { return scratch_bytes_; }

    void run(const KernelCall& call) {
        keep_this_worker_single();
        Context& context = contexts_[std::size_t(call.worker)];
        std::byte* const scratch = scratch_bytes_ > 0 ? call.writes[1] : nullptr;
        if (scratch != nullptr) point(context.scratchpad, scratch);
        for (std::size_t i = 0; i < context.reads.size(); ++i) {
            Bound& read = context.reads[i];
            // The library takes inputs as mutable memory and does not write them.
            point(read.plain, const_cast<std::byte*>(call.reads[i]) + read.byte_offset);
            if (!read.reorder) continue;
            point(read.wanted, scratch + read.scratch_offset);
            read.reorder->execute(context.stream, read.plain, read.wanted);
        }
        Bound& result = context.result;
        point(result.plain, call.writes[0] + result.byte_offset);
        if (result.reorder) point(result.wanted, scratch + result.scratch_offset);
        primitive_.execute(context.stream, context.arguments);
        if (result.reorder) result.reorder->execute(context.stream, result.wanted, result.plain);
        context.stream.wait();
    }

private:
    static Bound bind(const dnnl::engine& engine, const Operand& operand, std::int64_t scratch,
                      bool is_read) {
        Bound bound{.plain = dnnl::memory(operand.plain, engine, nullptr),
                    .wanted = {},
                    .reorder = {},
                    .scratch_offset = scratch,
                    .byte_offset = byte_offset(operand)};
        if (is_packed(operand)) {
            bound.plain = dnnl::memory(operand.wanted, engine, nullptr);
            bound.byte_offset = 0;
        }
        if (!is_reordered(operand)) {
            bound.wanted = bound.plain;
            return bound;
        }
        bound.wanted = dnnl::memory(operand.wanted, engine, nullptr);
        bound.reorder = is_read ? dnnl::reorder(bound.plain, bound.wanted)
                                : dnnl::reorder(bound.wanted, bound.plain);
        return bound;
    }

    dnnl::primitive primitive_;
    std::int64_t scratch_bytes_ = 0;
    std::vector<Context> contexts_;    ///< by worker: each touches its own only
};

[[noreturn]] void rethrow(const dnnl::error& error) {
    throw Error(ErrorCode::internal, fmt::format("oneDNN: {}", error.what()));
}

std::optional<Packing> packing_of(const PrimitiveParts& parts, int workers) {
    for (const Operand& read : parts.reads)
        if (is_packed(read)) return make_packing(parts.engine, read, true, workers);
    if (is_packed(parts.result)) return make_packing(parts.engine, parts.result, false, workers);
    return {};
}

}    // namespace

std::optional<dnnl::memory::data_type> data_type_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return dnnl::memory::data_type::f32;
        case DType::bf16:
            return dnnl::memory::data_type::bf16;
        default:
            return {};
    }
}

Desc desc_of(const View& view, dnnl::memory::data_type type) {
    return {view.dims, type, view.strides};
}

int rank_of(std::string_view implementation) {
    if (implementation.starts_with("ref") || implementation.starts_with("simple")) return 0;
    return implementation.starts_with("gemm") ? 1 : 2;
}

LibraryKernel assemble(const PrimitiveParts& parts, int workers, std::string name) {
    const auto assembled = std::make_shared<Assembled>(parts, workers);    // kernels are copied
    return {.kernel =
                [assembled](const KernelCall& call) {
                    // The library's border: its errors become ours.
                    try {
                        assembled->run(call);
                    } catch (const dnnl::error& error) {
                        rethrow(error);
                    }
                },
            .scratch_bytes = assembled->scratch_bytes(),
            .name = std::move(name),
            .packing = packing_of(parts, workers)};
}

std::optional<LibraryKernel> make_single_threaded(
    const std::function<std::optional<LibraryKernel>(const dnnl::engine& engine)>& make) {
    const OneThread one_thread;
    try {
        return make(dnnl::engine(dnnl::engine::kind::cpu, 0));
    } catch (const dnnl::error& error) {
        // The library's border: what it does not offer is done otherwise, the rest is an error.
        if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) return {};
        rethrow(error);
    }
}

void keep_this_worker_single() {
    thread_local const bool once = [] {
        omp_set_num_threads(1);
        return true;
    }();
    static_cast<void>(once);
}

dnnl::primitive_attr plan_owned_scratchpad() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

}    // namespace slipway::onednn
