// A kernel becomes one function: loops over groups and rows, then for each row as many passes as
// its reductions need, each a loop over the row's elements in vectors. LoopPlan has decided
// beforehand in which pass and at which level a value is computed; the emitter only walks the
// kernel's values in their order and never looks for an optimisation, which is LLVM's work. Sums
// over rows of a group are in column_sums.h.
//
// What the functions keep: the order of additions is decided by the kernel, the number of lanes and
// the copies that are unrolled, never by LLVM (no fast-math) or by how work is cut among threads,
// so equal kernels give equal bits. What is left of a loop after whole unrolled steps is computed
// in vectors under a mask: nothing is read or written outside an array.

#include "executor/codegen/llvm/loop_emitter.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "executor/codegen/llvm/column_sums.h"

namespace slipway {

namespace {

using Level = LoopPlan::Level;

// A run of the last loop is summed in parts of so many elements, which are then summed: the chain
// of additions, and so the rounding error, stays short.
constexpr std::int64_t summed_elements = 8192;

/// Rows, the passes over each, and what a pass does with every vector of elements.
class LoopEmitter : ColumnSums {
public:
    using ColumnSums::ColumnSums;

    void run(const std::string& symbol) {
        begin_function(symbol);
        nest(0, kernel_.groups, [&] {
            begin_columns();
            nest(kernel_.groups, kernel_.inner_begin(), [&] {
                emit_row();
                carry_columns();
            });
            finish_columns();
        });
        b_.CreateRetVoid();
    }

private:
    // ---- one row ---------------------------------------------------------------------------

    void emit_row() {
        row_values_.assign(kernel_.values.size(), nullptr);
        for (std::size_t pass = 0; pass < plan_.pass_count; ++pass) {
            emit_values_of(Level::row, pass, row_values_);
            emit_pass(pass);
        }
        emit_values_of(Level::row, plan_.pass_count, row_values_);
        for (const LoopStore& store : kernel_.stores) {
            if (store.kind != LoopStoreKind::row) continue;
            const DType dtype = kernel_.values[store.value].dtype;
            llvm::Value* const to = line_pointer(writes_[store.to.buffer], store.to, dtype);
            b_.CreateAlignedStore(scalars_.to_memory(dtype, row_values_[store.value]), to,
                                  alignment(dtype));
        }
    }

    /// Values of the row or of the line that can be had in this pass and are not there yet.
    void emit_values_of(Level level, std::size_t pass, std::vector<llvm::Value*>& values) {
        for (ValueId id = 0; id < kernel_.values.size(); ++id) {
            const LoopValue& value = kernel_.values[id];
            const bool is_due = plan_.levels[id] == level && plan_.passes[id] <= pass &&
                                values[id] == nullptr && value.kind != LoopValueKind::reduce;
            if (is_due) values[id] = single_value(value);
        }
    }

    llvm::Value* single_value(const LoopValue& value) {
        switch (value.kind) {
            case LoopValueKind::load: {
                llvm::Value* const from =
                    line_pointer(reads_[value.access.buffer], value.access, value.dtype);
                return scalars_.from_memory(
                    value.dtype, b_.CreateAlignedLoad(scalars_.memory_type(value.dtype), from,
                                                      alignment(value.dtype)));
            }
            case LoopValueKind::counter:
                return counted(scalars_, value.dtype,
                               b_.CreateTrunc(element_number(value.access), b_.getInt32Ty()),
                               element_number(value.access));
            case LoopValueKind::constant:
                return scalars_.constant(value.dtype, value.number);
            default:
                break;
        }
        std::vector<llvm::Value*> operands;
        for (const ValueId operand : value.operands)
            operands.push_back(plan_.levels[operand] == Level::row ? row_values_[operand]
                                                                   : line_values_[operand]);
        return scalars_.compute(value, operand_type(value), operands);
    }

    /// A count in its own type; `narrow` is it in 32 bits.
    llvm::Value* counted(const ElementOps& ops, DType dtype, llvm::Value* narrow,
                         llvm::Value* wide) {
        llvm::Type* const type = ops.register_type(dtype);
        if (is_floating(dtype)) return ops.rounded(dtype, b_.CreateSIToFP(narrow, type));
        return b_.CreateIntCast(wide, type, true);
    }

    DType operand_type(const LoopValue& value) const {
        const std::size_t typed = value.op == OpCode::select ? 1 : 0;
        return kernel_.values[value.operands[typed]].dtype;
    }

    // ---- one pass over the row -------------------------------------------------------------

    struct Accumulator {
        ValueId reduce;
        llvm::AllocaInst* total;                 ///< of the whole pass
        std::vector<llvm::AllocaInst*> parts;    ///< of one run, by unrolled copy
    };

    void emit_pass(std::size_t pass) {
        if (roots_of_pass(kernel_, plan_, pass).empty()) return;
        pass_ = pass;
        lane_order_ = lane_values_of_pass(kernel_, plan_, pass);
        copies_ = unrolled_copies();
        accumulators_.clear();
        for (ValueId id = 0; id < kernel_.values.size(); ++id) {
            const LoopValue& value = kernel_.values[id];
            if (value.kind != LoopValueKind::reduce || plan_.passes[id] != pass + 1) continue;
            Accumulator& made = accumulators_.emplace_back();
            made.reduce = id;
            made.total = variable(vectors_.register_type(value.dtype));
            for (unsigned copy = 0; copy < copies_; ++copy)
                made.parts.push_back(variable(vectors_.register_type(value.dtype)));
            b_.CreateStore(vectors_.neutral(value.reduction, value.dtype), made.total);
        }
        nest(kernel_.inner_begin(), kernel_.extents.size() - 1, [&] { emit_line(); });
        for (const Accumulator& accumulator : accumulators_)
            row_values_[accumulator.reduce] = combined_lanes(accumulator);
    }

    /// Sums want several independent chains of additions, unless there is other work to hide the
    /// additions behind. What is counted may be shared by two elements 16 apart, as dropout's is.
    unsigned unrolled_copies() const {
        int cost = 0;
        bool sums = false;
        for (const ValueId id : lane_order_) {
            if (kernel_.values[id].kind == LoopValueKind::counter) return 32 / lanes_;
            cost += cost_of(kernel_.values[id]);
        }
        for (std::size_t id = 0; id < kernel_.values.size(); ++id)
            sums = sums || (kernel_.values[id].kind == LoopValueKind::reduce &&
                            plan_.passes[id] == pass_ + 1);
        if (!sums) return cost <= 8 ? 2 : 1;
        return unsigned(std::clamp(32 / std::max(cost, 1), 1, 4));
    }

    void emit_line() {
        line_values_.assign(kernel_.values.size(), nullptr);
        emit_values_of(Level::line, pass_, line_values_);
        find_line_pointers();
        if (kernel_.flat)
            return emit_run(function_->getArg(2), function_->getArg(3),
                            std::numeric_limits<std::int64_t>::max());
        const std::int64_t extent = kernel_.extents.back();
        if (accumulators_.empty() || extent <= summed_elements)
            return emit_run(count(0), count(extent), extent);
        loop(count(0), count(extent), summed_elements, [&](llvm::Value* first) {
            llvm::Value* const last = b_.CreateAdd(first, count(summed_elements));
            emit_run(first,
                     b_.CreateSelect(b_.CreateICmpSLT(last, count(extent)), last, count(extent)),
                     summed_elements);
        });
    }

    void find_line_pointers() {
        line_pointers_.clear();
        for (const ValueId id : lane_order_) {
            const LoopValue& value = kernel_.values[id];
            if (plan_.kept[id])
                kept_pointers_[id] = scratch_pointer(*plan_.kept[id], value.dtype);
            else if (value.kind == LoopValueKind::load)
                line_pointers_[&value.access] =
                    line_pointer(reads_[value.access.buffer], value.access, value.dtype);
        }
        for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
            const LoopStore& store = kernel_.stores[i];
            if (store.kind == LoopStoreKind::row || pass_of(store, plan_) != pass_) continue;
            const DType dtype = kernel_.values[store.value].dtype;
            line_pointers_[&store.to] =
                store.kind == LoopStoreKind::column
                    ? scratch_pointer(plan_.partials[i][0], dtype)
                    : line_pointer(writes_[store.to.buffer], store.to, dtype);
        }
    }

    /// Elements begin..end of the last loop, at most `elements_max` of them: whole unrolled
    /// steps, then single vectors under a mask.
    void emit_run(llvm::Value* begin, llvm::Value* end, std::int64_t elements_max) {
        for (const Accumulator& accumulator : accumulators_)
            for (llvm::AllocaInst* const part : accumulator.parts)
                b_.CreateStore(neutral_of(accumulator), part);
        llvm::Value* rest = begin;
        const std::int64_t step = std::int64_t(lanes_) * copies_;
        if (elements_max >= step)
            rest = loop(begin, b_.CreateSub(end, count(step - 1)), step, [&](llvm::Value* i) {
                for (unsigned copy = 0; copy < copies_; ++copy)
                    emit_elements(i, nullptr, copy);
            });
        if (elements_max >= step && elements_max % step == 0 && !kernel_.flat &&
            kernel_.extents.back() % step == 0)
            return add_parts();
        loop(rest, end, lanes_, [&](llvm::Value* i) { emit_elements(i, lanes_before(end, i), 0); });
        add_parts();
    }

    llvm::Value* neutral_of(const Accumulator& accumulator) {
        const LoopValue& value = kernel_.values[accumulator.reduce];
        return vectors_.neutral(value.reduction, value.dtype);
    }

    void add_parts() {
        for (const Accumulator& accumulator : accumulators_) {
            const LoopValue& value = kernel_.values[accumulator.reduce];
            llvm::Value* sum = loaded(accumulator.parts[0]);
            for (unsigned copy = 1; copy < copies_; ++copy)
                sum = vectors_.combined(value.reduction, value.dtype, sum,
                                        loaded(accumulator.parts[copy]));
            b_.CreateStore(
                vectors_.combined(value.reduction, value.dtype, loaded(accumulator.total), sum),
                accumulator.total);
        }
    }

    /// The lanes of a total, halves upon halves.
    llvm::Value* combined_lanes(const Accumulator& accumulator) {
        const LoopValue& value = kernel_.values[accumulator.reduce];
        llvm::Value* x = loaded(accumulator.total);
        for (unsigned width = lanes_ / 2; width > 0; width /= 2) {
            std::vector<int> low(width), high(width);
            std::iota(low.begin(), low.end(), 0);
            std::iota(high.begin(), high.end(), int(width));
            x = ElementOps(b_, width).combined(value.reduction, value.dtype,
                                               b_.CreateShuffleVector(x, low),
                                               b_.CreateShuffleVector(x, high));
        }
        return scalars_.rounded(value.dtype, b_.CreateExtractElement(x, std::uint64_t{0}));
    }

    // ---- one vector of elements ------------------------------------------------------------

    /// Everything the pass does with one vector of the last loop's elements first..: the `copy`th.
    void emit_elements(llvm::Value* first, llvm::Value* mask, unsigned copy) {
        llvm::Value* const i = b_.CreateAdd(first, count(copy * lanes_));
        lane_values_.assign(kernel_.values.size(), nullptr);
        for (const ValueId id : lane_order_)
            lane_values_[id] = kernel_.values[id].kind == LoopValueKind::counter
                                   ? counter_lanes(kernel_.values[id], first, copy)
                                   : vector_value(id, i, mask);
        for (ValueId id = 0; id < kernel_.values.size(); ++id)
            if (plan_.kept[id] && plan_.passes[id] == pass_) keep(id, i);
        for (const Accumulator& accumulator : accumulators_)
            accumulate(accumulator, mask, copy);
        for (const LoopStore& store : kernel_.stores)
            if (store.kind != LoopStoreKind::row && pass_of(store, plan_) == pass_)
                emit_store(store, i, mask);
    }

    llvm::Value* lane(ValueId id) {
        if (plan_.levels[id] == Level::lane) return lane_values_[id];
        return b_.CreateVectorSplat(
            lanes_, plan_.levels[id] == Level::row ? row_values_[id] : line_values_[id]);
    }

    llvm::Value* vector_value(ValueId id, llvm::Value* i, llvm::Value* mask) {
        const LoopValue& value = kernel_.values[id];
        if (plan_.kept[id] && plan_.passes[id] < pass_) {
            llvm::Value* const from =
                b_.CreateGEP(scratch_type(value.dtype, scalars_), kept_pointers_.at(id), i);
            llvm::Value* const kept =
                b_.CreateAlignedLoad(scratch_type(value.dtype, vectors_), from, llvm::Align(1));
            return value.dtype == DType::pred ? vectors_.from_memory(value.dtype, kept) : kept;
        }
        if (value.kind == LoopValueKind::load)
            return vectors_.from_memory(
                value.dtype,
                load_lanes(line_pointers_.at(&value.access), value.access, value.dtype, {i, mask}));
        std::vector<llvm::Value*> operands;
        for (const ValueId operand : value.operands)
            operands.push_back(lane(operand));
        return vectors_.compute(value, operand_type(value), operands);
    }

    /// The copies count from one number: what is seen to be the same in two of them is one value.
    llvm::Value* counter_lanes(const LoopValue& value, llvm::Value* first, unsigned copy) {
        const std::int64_t stride = value.access.strides.back();
        llvm::Value* const begin = advanced(element_number(value.access), first, stride);
        std::vector<std::uint64_t> steps(lanes_);
        for (unsigned k = 0; k < lanes_; ++k)
            steps[k] = std::uint64_t(std::int64_t(copy * lanes_ + k) * stride);
        llvm::Value* const wide =
            b_.CreateAdd(b_.CreateVectorSplat(lanes_, begin),
                         llvm::ConstantDataVector::get(b_.getContext(), steps));
        llvm::Value* const narrow =
            b_.CreateTrunc(wide, llvm::FixedVectorType::get(b_.getInt32Ty(), lanes_));
        return counted(vectors_, value.dtype, narrow, wide);
    }

    /// Scratch memory is padded to whole vectors: what lies beyond the end harms nobody.
    void keep(ValueId id, llvm::Value* i) {
        const DType dtype = kernel_.values[id].dtype;
        llvm::Value* value = lane_values_[id];
        if (dtype == DType::pred) value = vectors_.to_memory(dtype, value);
        b_.CreateAlignedStore(value,
                              b_.CreateGEP(scratch_type(dtype, scalars_), kept_pointers_.at(id), i),
                              llvm::Align(1));
    }

    void accumulate(const Accumulator& accumulator, llvm::Value* mask, unsigned copy) {
        const LoopValue& value = kernel_.values[accumulator.reduce];
        llvm::AllocaInst* const part = accumulator.parts[copy];
        llvm::Value* const before = loaded(part);
        llvm::Value* sum =
            vectors_.combined(value.reduction, value.dtype, before, lane(value.operands[0]));
        if (mask != nullptr) sum = b_.CreateSelect(mask, sum, before);
        b_.CreateStore(sum, part);
    }

    void emit_store(const LoopStore& store, llvm::Value* i, llvm::Value* mask) {
        const DType dtype = kernel_.values[store.value].dtype;
        llvm::Value* const pointer = line_pointers_.at(&store.to);
        llvm::Value* value = lane(store.value);
        if (store.kind == LoopStoreKind::column) return add_to_column(store, value, pointer, i);
        if (store.kind == LoopStoreKind::scatter) {
            llvm::Value* const before =
                vectors_.from_memory(dtype, load_lanes(pointer, store.to, dtype, {i, mask}));
            value =
                vectors_.rounded(dtype, vectors_.combined(Reduction::add, dtype, before, value));
        }
        store_lanes(vectors_.to_memory(dtype, value), pointer, store.to, dtype, {i, mask});
    }

    std::vector<llvm::Value*> line_values_, lane_values_;    ///< by value
    // Of the pass and the line at hand.
    std::size_t pass_ = 0;
    std::vector<ValueId> lane_order_;
    unsigned copies_ = 1;
    std::vector<Accumulator> accumulators_;
    std::unordered_map<const LoopAccess*, llvm::Value*> line_pointers_;
    std::unordered_map<ValueId, llvm::Value*> kept_pointers_;
};

}    // namespace

void emit_loop_kernel(llvm::Module& module, const std::string& symbol, const LoopKernel& kernel,
                      const LoopPlan& plan, const CompileTarget& target) {
    LoopEmitter(module, kernel, plan, target).run(symbol);
}

}    // namespace slipway
