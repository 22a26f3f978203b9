// Positions that are values of the program become terms of an access: a base that is loaded,
// clamped to where the part fits and multiplied by a stride. So an operation of this family is a
// loop kernel like any other, and dense rows are moved as vectors. One that changes a part of a
// value first copies the whole, unless the analysis found that nobody else reads it: then it is
// changed where it lies. Sums of scattered rows over the cores may be batched with the product
// that they are added to (batched_product.h).
#include <algorithm>
#include <array>

#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/loops/loop_plan.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/op_table.h"

/// Ops whose places are known only when the program runs: gather, scatter_add, dynamic_slice,
/// dynamic_update_slice. A loop kernel each; those that change a part first copy the whole, unless
/// they may change it where it lies.
namespace slipway {

namespace {

/// A kernel over one value's dimensions, as loops.
class Builder {
public:
    /// rows  how many of the dimensions are walked row by row
    Builder(Dims dims, std::size_t rows) {
        kernel_.rows = rows;
        kernel_.extents = std::move(dims);
        if (kernel_.extents.size() == rows) kernel_.extents.push_back(1);
        kernel_.writes = 1;
    }

    /// strides  of the leading dimensions; the others do not move it
    LoopAccess access(std::size_t buffer, Dims strides, std::int64_t offset) const {
        strides.resize(kernel_.extents.size(), 0);
        return {.buffer = buffer, .strides = std::move(strides), .offset = offset};
    }

    ValueId load(const LoopAccess& from, DType dtype) {
        return add({.kind = LoopValueKind::load, .dtype = dtype, .access = from});
    }

    ValueId constant(DType dtype, std::int64_t number) {
        return add({.kind = LoopValueKind::constant, .dtype = dtype, .number = double(number)});
    }

    ValueId compute(OpCode op, DType dtype, std::vector<ValueId> operands,
                    Comparison direction = Comparison::eq) {
        return add({.kind = LoopValueKind::compute,
                    .dtype = dtype,
                    .op = op,
                    .direction = direction,
                    .operands = std::move(operands)});
    }

    /// The index, moved into 0..last.
    ValueId clamped(ValueId index, DType dtype, std::int64_t last) {
        return compute(OpCode::clamp, dtype, {constant(dtype, 0), index, constant(dtype, last)});
    }

    void store(LoopStoreKind kind, ValueId value, LoopAccess to) {
        kernel_.stores.push_back({.kind = kind, .value = value, .to = std::move(to)});
    }

    Kernel finish(Lowering& lowering, std::size_t reads) && {
        kernel_.reads = reads;
        coalesce(kernel_);
        Kernel kernel = lowering.compiled(kernel_);
        if (!kernel_.flat) return kernel;
        return [kernel = std::move(kernel), n = kernel_.extents[0]](const KernelCall& call) {
            kernel({call.reads, call.writes, 0, n, call.worker});
        };
    }

private:
    ValueId add(LoopValue value) {
        kernel_.values.push_back(std::move(value));
        return ValueId(kernel_.values.size() - 1);
    }

    LoopKernel kernel_;
};

/// What a step reads, by position in its kernels.
struct Reads {
    std::vector<BufferId> buffers = {};

    std::size_t add(const PlacedValue& value) {
        buffers.push_back(value.buffer);
        return buffers.size() - 1;
    }
};

void emit(Lowering& lowering, const Tensor& tensor, Reads reads, Kernel kernel, BufferId result) {
    lowering.emit(lowering.facts(tensor).stage,
                  {.name = step_name(name_of(tensor.node()), tensor.shape()),
                   .reads = std::move(reads.buffers),
                   .writes = {result},
                   .in_place = {},
                   .elements = 0,
                   .kernel = std::move(kernel),
                   .batches_cores = lowering.facts(tensor).is_batched});
}

/// The strides of a value that ends with its rows: its one element counts as a vector.
Dims with_inner(Dims strides, std::size_t rank) {
    if (strides.size() == rank) strides.push_back(1);
    return strides;
}

/// writes[0] = the whole value, dense.
Kernel copy_of(Lowering& lowering, const PlacedValue& value, std::size_t read, std::size_t reads) {
    Builder builder(value.view.dims, 0);
    const std::size_t rank = value.view.dims.size();
    const Dims dense = strides_of(value.view.dims);
    const ValueId loaded = builder.load(
        builder.access(read, rank == 0 ? Dims{1} : value.view.strides, value.view.offset),
        value.dtype);
    builder.store(LoopStoreKind::element, loaded,
                  builder.access(0, rank == 0 ? Dims{1} : dense, 0));
    return std::move(builder).finish(lowering, reads);
}

Kernel both(Kernel first, Kernel second) {
    return [first = std::move(first), second = std::move(second)](const KernelCall& call) {
        first(call);
        second(call);
    };
}

/// The same for each core: reads = the value, every core's second, every core's third.
Kernel for_each_core(Kernel kernel) {
    return [kernel = std::move(kernel)](const KernelCall& call) {
        const std::size_t cores = call.reads.size() / 2;
        for (std::size_t core = 1; core <= cores; ++core) {
            const std::array reads{call.reads[0], call.reads[core], call.reads[cores + core]};
            kernel({.reads = reads, .writes = call.writes, .worker = call.worker});
        }
    };
}

Dims tail(const Dims& dims, std::size_t from) {
    return {dims.begin() + std::ptrdiff_t(from), dims.end()};
}

Dims joined(Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Starts of a part as terms of an access to `view`: starts[i] clamped to where the part fits.
std::vector<LoopAccess::Term> terms_of(Lowering& lowering, Builder& builder, Reads& reads,
                                       std::span<const Tensor> starts, const Dims& sizes,
                                       const View& view) {
    std::vector<LoopAccess::Term> terms;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const PlacedValue& start = lowering.value_of(starts[i]);
        const ValueId loaded =
            builder.load(builder.access(reads.add(start), {}, start.view.offset), start.dtype);
        const ValueId clamped = builder.clamped(loaded, start.dtype, view.dims[i] - sizes[i]);
        terms.push_back({.index = clamped, .stride = view.strides[i]});
    }
    return terms;
}

}    // namespace

void lower_gather(Lowering& lowering, const Tensor& tensor) {
    const PlacedValue table = lowering.value_of(tensor.node().operands[0]);
    const PlacedValue indices = lowering.value_of(tensor.node().operands[1]);
    Reads reads;
    const std::size_t rows = indices.view.dims.size();
    Builder builder(tensor.dims(), rows);
    const ValueId index =
        builder.load(builder.access(reads.add(indices), indices.view.strides, indices.view.offset),
                     indices.dtype);
    const std::int64_t last = std::max<std::int64_t>(0, table.view.dims[0] - 1);
    const ValueId row = builder.clamped(index, indices.dtype, last);
    const Dims within = tail(table.view.strides, 1);
    LoopAccess from = builder.access(
        reads.add(table), with_inner(joined(Dims(rows, 0), within), rows), table.view.offset);
    from.terms.push_back({.index = row, .stride = table.view.strides[0]});
    builder.store(LoopStoreKind::element, builder.load(from, table.dtype),
                  builder.access(0, with_inner(strides_of(tensor.dims()), rows), 0));
    emit(lowering, tensor, reads, std::move(builder).finish(lowering, reads.buffers.size()),
         lowering.make_result(tensor));
}

/// What names no row goes nowhere: it is added as 0 to a row that there is.
void lower_scatter_add(Lowering& lowering, const Tensor& tensor) {
    const PlacedValue operand = lowering.value_of(tensor.node().operands[0]);
    const PlacedValue indices = lowering.value_of(tensor.node().operands[1]);
    const PlacedValue updates = lowering.value_of(tensor.node().operands[2]);
    const bool adds_in_place = lowering.facts(tensor).adds_in_place;
    if (!lowering.facts(tensor.node().operands[0]).is_batched && lowering.facts(tensor).is_batched)
        lowering.unbatch(tensor);
    const View target = adds_in_place ? operand.view : dense_view(tensor.dims());
    Reads reads;
    const std::size_t whole = reads.add(operand);
    const std::size_t rows = indices.view.dims.size();
    const DType dtype = indices.dtype;
    Builder builder(updates.view.dims, rows);
    const ValueId index = builder.load(
        builder.access(reads.add(indices), indices.view.strides, indices.view.offset), dtype);
    const std::int64_t last = std::max<std::int64_t>(0, operand.view.dims[0] - 1);
    const ValueId row = builder.clamped(index, dtype, last);
    const ValueId is_row = builder.compute(OpCode::compare, DType::pred, {index, row});
    const ValueId update =
        builder.load(builder.access(reads.add(updates), with_inner(updates.view.strides, rows),
                                    updates.view.offset),
                     updates.dtype);
    const ValueId added = builder.compute(OpCode::select, updates.dtype,
                                          {is_row, update, builder.constant(updates.dtype, 0)});
    LoopAccess to = builder.access(
        0, with_inner(joined(Dims(rows, 0), tail(target.strides, 1)), rows), target.offset);
    to.terms.push_back({.index = row, .stride = target.strides[0]});
    builder.store(LoopStoreKind::scatter, added, to);
    const std::size_t count = reads.buffers.size();
    const bool is_empty = tensor.shape().element_count() == 0;
    if (adds_in_place) {
        lowering.set_value(tensor, operand);
        if (is_empty) return;
        Kernel kernel = std::move(builder).finish(lowering, count);
        if (lowering.facts(tensor).is_batched) {
            lowering.keep(indices.buffer);
            lowering.keep(updates.buffer);
            kernel = for_each_core(std::move(kernel));
        }
        return emit(lowering, tensor, reads, std::move(kernel), operand.buffer);
    }
    Kernel copy = copy_of(lowering, operand, whole, count);
    const BufferId result = lowering.make_result(tensor);
    if (is_empty) return emit(lowering, tensor, reads, copy, result);
    emit(lowering, tensor, reads, both(std::move(copy), std::move(builder).finish(lowering, count)),
         result);
}

void lower_dynamic_slice(Lowering& lowering, const Tensor& tensor) {
    const std::vector<Tensor>& operands = tensor.node().operands;
    const PlacedValue x = lowering.value_of(operands[0]);
    Reads reads;
    Builder builder(tensor.dims(), 0);
    LoopAccess from = builder.access(reads.add(x), with_inner(x.view.strides, 0), x.view.offset);
    from.terms =
        terms_of(lowering, builder, reads, std::span(operands).subspan(1), tensor.dims(), x.view);
    builder.store(LoopStoreKind::element, builder.load(from, x.dtype),
                  builder.access(0, with_inner(strides_of(tensor.dims()), 0), 0));
    emit(lowering, tensor, reads, std::move(builder).finish(lowering, reads.buffers.size()),
         lowering.make_result(tensor));
}

void lower_dynamic_update_slice(Lowering& lowering, const Tensor& tensor) {
    const std::vector<Tensor>& operands = tensor.node().operands;
    const PlacedValue x = lowering.value_of(operands[0]);
    const PlacedValue update = lowering.value_of(operands[1]);
    Reads reads;
    const std::size_t whole = reads.add(x);
    Builder builder(update.view.dims, 0);
    const View result = dense_view(tensor.dims());
    LoopAccess to = builder.access(0, with_inner(result.strides, 0), 0);
    to.terms = terms_of(lowering, builder, reads, std::span(operands).subspan(2), update.view.dims,
                        result);
    const ValueId value = builder.load(
        builder.access(reads.add(update), with_inner(update.view.strides, 0), update.view.offset),
        update.dtype);
    builder.store(LoopStoreKind::element, value, to);
    const std::size_t count = reads.buffers.size();
    Kernel copy = copy_of(lowering, x, whole, count);
    emit(lowering, tensor, reads, both(std::move(copy), std::move(builder).finish(lowering, count)),
         lowering.make_result(tensor));
}

}    // namespace slipway
