#include "executor/codegen/jit/loop_emitter.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "executor/codegen/jit/element_ops.h"
#include "executor/codegen/jit/loop_function.h"

namespace slipway {

namespace {

using Level = LoopPlan::Level;

// A run of the last loop is summed in parts of so many elements, which are then summed: the chain
// of additions, and so the rounding error, stays short.
constexpr std::int64_t summed_elements = 8192;

class LoopEmitter : LoopFunction {
public:
    LoopEmitter(llvm::Module& module, const LoopKernel& kernel, const LoopPlan& plan,
                const CompileTarget& target)
        : LoopFunction(module),
          kernel_(kernel),
          plan_(plan),
          lanes_(target.lanes),
          scalars_(b_, 0),
          vectors_(b_, target.lanes, target.rounds_to_bf16),
          index_(kernel.extents.size()) {}

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
    // ---- the function and its loops --------------------------------------------------------

    void begin_function(const std::string& symbol) {
        begin(symbol, 32 * lanes_);
        llvm::Type* const pointer = b_.getPtrTy();
        const auto load_pointers = [&](llvm::Value* array, std::size_t n) {
            std::vector<llvm::Value*> pointers;
            for (std::size_t i = 0; i < n; ++i)
                pointers.push_back(
                    b_.CreateLoad(pointer, b_.CreateConstGEP1_64(pointer, array, i)));
            return pointers;
        };
        reads_ = load_pointers(function_->getArg(0), kernel_.reads);
        writes_ =
            load_pointers(function_->getArg(1), kernel_.writes + (plan_.scratch_bytes > 0 ? 1 : 0));
        if (plan_.scratch_bytes > 0) scratch_ = writes_.back();
        row_number_ = variable(b_.getInt64Ty());
    }

    /// The loops first..last-1 around body.
    template <class Body>
    void nest(std::size_t first, std::size_t last, Body&& body) {
        if (first == last) return body();
        loop(count(0), count(kernel_.extents[first]), 1, [&](llvm::Value* i) {
            index_[first] = i;
            nest(first + 1, last, body);
        });
    }

    // ---- addresses -------------------------------------------------------------------------

    /// Where the access stands before the last loop: its element number.
    llvm::Value* element_number(const LoopAccess& access) {
        llvm::Value* sum = count(access.offset);
        for (std::size_t i = 0; i + 1 < kernel_.extents.size(); ++i)
            sum = advanced(sum, index_[i], access.strides[i]);
        for (const LoopAccess::Term& term : access.terms)
            sum = advanced(sum, as_count(term.index), term.stride);
        return sum;
    }

    llvm::Value* as_count(ValueId id) {
        const DType dtype = kernel_.values[id].dtype;
        const bool has_sign = dtype == DType::i32 || dtype == DType::i64;
        return b_.CreateIntCast(row_values_[id], b_.getInt64Ty(), has_sign);
    }

    llvm::Value* line_pointer(llvm::Value* base, const LoopAccess& access, DType dtype) {
        return b_.CreateGEP(scalars_.memory_type(dtype), base, element_number(access));
    }

    /// Where the present line begins in a padded array of scratch memory.
    llvm::Value* scratch_pointer(std::int64_t at, DType dtype) {
        llvm::Value* line = count(0);
        std::int64_t stride = plan_.padded_last;
        for (std::size_t i = kernel_.extents.size() - 1; i-- > kernel_.inner_begin();) {
            line = advanced(line, index_[i], stride);
            stride *= kernel_.extents[i];
        }
        llvm::Value* const base = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, at);
        return b_.CreateGEP(scratch_type(dtype, scalars_), base, line);
    }

    /// Kept values and partial sums lie as in registers, truths as bytes.
    static llvm::Type* scratch_type(DType dtype, const ElementOps& ops) {
        return dtype == DType::pred ? ops.memory_type(dtype) : ops.register_type(dtype);
    }

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

    static llvm::Align alignment(DType dtype) { return llvm::Align(size_in_bytes(dtype)); }

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
        loop(rest, end, lanes_, [&](llvm::Value* i) {
            llvm::Value* const left = b_.CreateTrunc(b_.CreateSub(end, i), b_.getInt32Ty());
            emit_elements(
                i, b_.CreateICmpULT(lane_numbers(lanes_), b_.CreateVectorSplat(lanes_, left)), 0);
        });
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

    struct Place {
        llvm::Value* i;
        llvm::Value* mask;    ///< null: all lanes
    };

    llvm::Value* all_lanes() {
        return llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
    }

    /// The addresses of lanes that do not lie side by side.
    llvm::Value* scattered(llvm::Value* pointer, const LoopAccess& access, DType dtype,
                           llvm::Value* i) {
        const std::int64_t stride = access.strides.back();
        llvm::Type* const type = scalars_.memory_type(dtype);
        llvm::Value* const first = b_.CreateGEP(type, pointer, b_.CreateMul(i, count(stride)));
        std::vector<std::uint64_t> steps(lanes_);
        for (unsigned k = 0; k < lanes_; ++k)
            steps[k] = std::uint64_t(std::int64_t(k) * stride);
        return b_.CreateGEP(type, first, llvm::ConstantDataVector::get(b_.getContext(), steps));
    }

    llvm::Value* load_lanes(llvm::Value* pointer, const LoopAccess& access, DType dtype,
                            const Place& place) {
        llvm::Type* const type = vectors_.memory_type(dtype);
        llvm::Value* const nothing = llvm::Constant::getNullValue(type);
        if (access.strides.back() != 1)
            return b_.CreateMaskedGather(type, scattered(pointer, access, dtype, place.i),
                                         alignment(dtype),
                                         place.mask == nullptr ? all_lanes() : place.mask, nothing);
        llvm::Value* const from = b_.CreateGEP(scalars_.memory_type(dtype), pointer, place.i);
        if (place.mask == nullptr) return b_.CreateAlignedLoad(type, from, alignment(dtype));
        return b_.CreateMaskedLoad(type, from, alignment(dtype), place.mask, nothing);
    }

    void store_lanes(llvm::Value* stored, llvm::Value* pointer, const LoopAccess& access,
                     DType dtype, const Place& place) {
        if (access.strides.back() != 1) {
            b_.CreateMaskedScatter(stored, scattered(pointer, access, dtype, place.i),
                                   alignment(dtype),
                                   place.mask == nullptr ? all_lanes() : place.mask);
            return;
        }
        llvm::Value* const to = b_.CreateGEP(scalars_.memory_type(dtype), pointer, place.i);
        if (place.mask == nullptr)
            b_.CreateAlignedStore(stored, to, alignment(dtype));
        else
            b_.CreateMaskedStore(stored, to, alignment(dtype), place.mask);
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
        if (store.kind == LoopStoreKind::column) {
            llvm::Type* const type = vectors_.register_type(dtype);
            llvm::Value* const at = b_.CreateGEP(scalars_.register_type(dtype), pointer, i);
            llvm::Value* const before = b_.CreateAlignedLoad(type, at, llvm::Align(1));
            b_.CreateAlignedStore(vectors_.combined(store.reduction, dtype, before, value), at,
                                  llvm::Align(1));
            return;
        }
        if (store.kind == LoopStoreKind::scatter) {
            llvm::Value* const before =
                vectors_.from_memory(dtype, load_lanes(pointer, store.to, dtype, {i, mask}));
            value =
                vectors_.rounded(dtype, vectors_.combined(Reduction::add, dtype, before, value));
        }
        store_lanes(vectors_.to_memory(dtype, value), pointer, store.to, dtype, {i, mask});
    }

    // ---- column reductions -----------------------------------------------------------------

    struct Partial {
        llvm::Value* pointer;
        llvm::Value* vector;
    };

    Partial partial_at(std::int64_t at, DType dtype, llvm::Value* i) {
        llvm::Value* const base = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, at);
        llvm::Value* const pointer = b_.CreateGEP(scalars_.register_type(dtype), base, i);
        return {pointer,
                b_.CreateAlignedLoad(vectors_.register_type(dtype), pointer, llvm::Align(1))};
    }

    std::size_t column_levels() const {
        std::size_t levels = 0;
        for (const auto& partials : plan_.partials)
            levels = std::max(levels, partials.size());
        return levels;
    }

    template <class Body>
    void for_each_column(Body&& body) {
        loop(count(0), count(plan_.padded_elements), lanes_, [&](llvm::Value* i) {
            for (std::size_t k = 0; k < kernel_.stores.size(); ++k)
                if (kernel_.stores[k].kind == LoopStoreKind::column) body(k, i);
        });
    }

    void begin_columns() {
        if (column_levels() == 0) return;
        b_.CreateStore(count(0), row_number_);
        for_each_column([&](std::size_t k, llvm::Value* i) {
            const LoopStore& store = kernel_.stores[k];
            const DType dtype = kernel_.values[store.value].dtype;
            for (const std::int64_t at : plan_.partials[k])
                b_.CreateAlignedStore(vectors_.neutral(store.reduction, dtype),
                                      partial_at(at, dtype, i).pointer, llvm::Align(1));
        });
    }

    /// After each 64 rows the first level's sums move on to the second, and so forth.
    void carry_columns() {
        const std::size_t levels = column_levels();
        if (levels < 2) return;
        llvm::Value* const number = b_.CreateAdd(loaded(row_number_), count(1));
        b_.CreateStore(number, row_number_);
        std::int64_t period = 1;
        for (std::size_t level = 0; level + 1 < levels; ++level) {
            period *= LoopPlan::rows_per_level;
            llvm::Value* const rest = b_.CreateAnd(number, count(period - 1));
            if_true(b_.CreateICmpEQ(rest, count(0)), [&] {
                for_each_column([&](std::size_t k, llvm::Value* i) { carry(k, level, i); });
            });
        }
    }

    void carry(std::size_t k, std::size_t level, llvm::Value* i) {
        const std::vector<std::int64_t>& partials = plan_.partials[k];
        if (level + 1 >= partials.size()) return;
        const LoopStore& store = kernel_.stores[k];
        const DType dtype = kernel_.values[store.value].dtype;
        const Partial from = partial_at(partials[level], dtype, i);
        const Partial to = partial_at(partials[level + 1], dtype, i);
        b_.CreateAlignedStore(vectors_.combined(store.reduction, dtype, to.vector, from.vector),
                              to.pointer, llvm::Align(1));
        b_.CreateAlignedStore(vectors_.neutral(store.reduction, dtype), from.pointer,
                              llvm::Align(1));
    }

    void finish_columns() {
        if (column_levels() == 0) return;
        nest(kernel_.inner_begin(), kernel_.extents.size() - 1, [&] {
            for (std::size_t k = 0; k < kernel_.stores.size(); ++k)
                if (kernel_.stores[k].kind == LoopStoreKind::column) finish_column(k);
        });
    }

    void finish_column(std::size_t k) {
        const LoopStore& store = kernel_.stores[k];
        const DType dtype = kernel_.values[store.value].dtype;
        std::vector<llvm::Value*> levels;
        for (const std::int64_t at : plan_.partials[k])
            levels.push_back(scratch_pointer(at, dtype));
        llvm::Value* const to = line_pointer(writes_[store.to.buffer], store.to, dtype);
        llvm::Value* const end = count(kernel_.extents.back());
        loop(count(0), end, lanes_, [&](llvm::Value* i) {
            llvm::Value* sum = nullptr;
            for (llvm::Value* const level : levels) {
                llvm::Value* const part = b_.CreateAlignedLoad(
                    vectors_.register_type(dtype),
                    b_.CreateGEP(scalars_.register_type(dtype), level, i), llvm::Align(1));
                sum = sum == nullptr ? part : vectors_.combined(store.reduction, dtype, part, sum);
            }
            llvm::Value* const left = b_.CreateTrunc(b_.CreateSub(end, i), b_.getInt32Ty());
            llvm::Value* const mask =
                b_.CreateICmpULT(lane_numbers(lanes_), b_.CreateVectorSplat(lanes_, left));
            store_lanes(vectors_.to_memory(dtype, vectors_.rounded(dtype, sum)), to, store.to,
                        dtype, {i, mask});
        });
    }

    const LoopKernel& kernel_;    // outlives the emitter, as the plan does
    const LoopPlan& plan_;
    const unsigned lanes_;
    const ElementOps scalars_, vectors_;
    std::vector<llvm::Value*> reads_, writes_;
    llvm::Value* scratch_ = nullptr;
    llvm::AllocaInst* row_number_ = nullptr;    ///< rows done in this group
    std::vector<llvm::Value*> index_;           ///< by loop; null outside of it
    std::vector<llvm::Value*> row_values_, line_values_, lane_values_;    ///< by value
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
