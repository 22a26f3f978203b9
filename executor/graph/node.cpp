#include "executor/graph/node.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "executor/graph/hash.h"
#include "executor/graph/op_table.h"

namespace slipway {

namespace {

void add(Hasher& hasher, std::int64_t number) {
    hasher.add(std::uint64_t(number));
}

void add(Hasher& hasher, const Dims& dims) {
    hasher.add(std::uint64_t(dims.size()));
    for (const std::int64_t extent : dims)
        add(hasher, extent);
}

void add(Hasher& hasher, const std::optional<DType>& dtype) {
    hasher.add(dtype ? std::uint64_t(*dtype) + 1 : 0);
}

void add(Hasher& hasher, double number) {
    hasher.add(std::bit_cast<std::uint64_t>(number));
}

void add(Hasher& hasher, const std::string& text) {
    hasher.add(std::uint64_t(text.size()));
    for (const char letter : text)
        hasher.add(std::uint64_t(static_cast<unsigned char>(letter)));
}

void add(Hasher& hasher, const std::vector<WindowDimension>& window) {
    hasher.add(std::uint64_t(window.size()));
    for (const WindowDimension& dimension : window) {
        add(hasher, dimension.size);
        add(hasher, dimension.stride);
        add(hasher, dimension.padding_low);
        add(hasher, dimension.padding_high);
        add(hasher, dimension.base_dilation);
        add(hasher, dimension.window_dilation);
    }
}

/// One overload per alternative of Attributes; a missing one does not compile.
struct AddAttributes {
    Hasher& hasher;

    void operator()(const NoAttributes&) const {}
    void operator()(const InputAttributes&) const {}    // the name is for printing only
    void operator()(const ConstantAttributes& a) const { add(hasher, a.value); }
    void operator()(const IotaAttributes& a) const { add(hasher, a.dimension); }
    void operator()(const BroadcastAttributes& a) const { add(hasher, a.dimensions); }
    void operator()(const TransposeAttributes& a) const { add(hasher, a.permutation); }
    void operator()(const SliceAttributes& a) const {
        add(hasher, a.start);
        add(hasher, a.limit);
        add(hasher, a.strides);
    }
    void operator()(const PadAttributes& a) const {
        add(hasher, a.low);
        add(hasher, a.high);
        add(hasher, a.interior);
    }
    void operator()(const ConcatenateAttributes& a) const { add(hasher, a.dimension); }
    void operator()(const ReverseAttributes& a) const { add(hasher, a.dimensions); }
    void operator()(const CompareAttributes& a) const { hasher.add(std::uint64_t(a.direction)); }
    void operator()(const DotAttributes& a) const {
        add(hasher, a.lhs_batching);
        add(hasher, a.rhs_batching);
        add(hasher, a.lhs_contracting);
        add(hasher, a.rhs_contracting);
        add(hasher, a.result);
    }
    void operator()(const ConvolutionAttributes& a) const {
        add(hasher, a.window);
        add(hasher, a.input_layout);
        add(hasher, a.kernel_layout);
        add(hasher, a.output_layout);
        add(hasher, a.feature_groups);
        add(hasher, a.batch_groups);
        add(hasher, a.result);
    }
    void operator()(const ReduceAttributes& a) const {
        add(hasher, a.dimensions);
        hasher.add(std::uint64_t(a.reduction));
    }
    void operator()(const ReduceWindowAttributes& a) const {
        add(hasher, a.window);
        hasher.add(std::uint64_t(a.reduction));
    }
    void operator()(const SelectAndScatterAttributes& a) const { add(hasher, a.window); }
    void operator()(const AllReduceAttributes& a) const {
        hasher.add(std::uint64_t(a.reduction));
        if (a.exchange) add(hasher, a.exchange);    // others keep the hash they had before
    }
    void operator()(const DynamicSliceAttributes& a) const { add(hasher, a.sizes); }
    void operator()(const BatchNormAttributes& a) const {
        add(hasher, a.epsilon);
        add(hasher, a.feature_dimension);
    }
    void operator()(const GetResultAttributes& a) const { add(hasher, a.index); }
    void operator()(const CompositeAttributes& a) const {
        add(hasher, a.name);
        hasher.add(std::uint64_t(a.numbers.size()));
        for (const double number : a.numbers)
            add(hasher, number);
    }
};

/// Which alternative they are, as far as hashes tell: programs are known by them in caches and
/// reports. The numbers stay what they are when the list changes; number 17 is free.
std::uint64_t number_of(const Attributes& attributes) {
    constexpr std::size_t free_number = 17;
    const std::size_t index = attributes.index();
    return index < free_number ? index : index + 1;
}

Placement placement_of(const NodeRequest& request) {
    if (request.op == OpCode::input) return request.placement;
    if (request.op == OpCode::all_reduce) return Placement::replicated;
    const bool any_per_core = std::ranges::any_of(request.operands, [](const Tensor& operand) {
        return operand.node().placement == Placement::per_core;
    });
    return any_per_core ? Placement::per_core : Placement::replicated;
}

}    // namespace

const Shape& Tensor::shape() const {
    return node_->shape;
}

Node::~Node() {
    // Dropping the last handle of an operand ends up here again; that inner call only leaves its
    // operands to the outermost one.
    thread_local std::vector<Tensor>* pending = nullptr;
    if (pending != nullptr) {
        std::ranges::move(operands, std::back_inserter(*pending));
        return;
    }
    std::vector<Tensor> dropped = std::move(operands);
    pending = &dropped;
    while (!dropped.empty()) {
        const Tensor last = std::move(dropped.back());
        dropped.pop_back();
    }
    pending = nullptr;
}

Hash128 hash_of_node(const NodeRequest& request, const Shape& shape, Placement placement) {
    Hasher hasher;
    hasher.add(std::uint64_t(request.op));
    hasher.add(number_of(request.attributes));
    std::visit(AddAttributes{hasher}, request.attributes);
    hasher.add(std::uint64_t(shape.dtype));
    add(hasher, shape.dims);
    hasher.add(std::uint64_t(placement));
    hasher.add(std::uint64_t(request.operands.size()));
    for (const Tensor& operand : request.operands)
        hasher.add(operand.node().hash);
    return hasher.finish();
}

Tensor make_node(NodeRequest request) {
    for (const Tensor& operand : request.operands)
        check(!operand.empty(), "operands are tensors, not empty handles");
    const OpRow& row = row_of(request.op);
    Shape shape = row.infer(request);
    std::vector<Shape> more_shapes;
    if (row.more_shapes != nullptr) more_shapes = row.more_shapes(request);
    const Placement placement = placement_of(request);
    const Hash128 hash = hash_of_node(request, shape, placement);
    return Tensor(std::make_shared<Node>(request.op, std::move(request.attributes),
                                         std::move(request.operands), std::move(shape), placement,
                                         hash, std::move(more_shapes)));
}

Tensor with_operands(const Tensor& x, std::vector<Tensor> operands) {
    const Node& node = x.node();
    if (operands == node.operands) return x;
    return make_node({.op = node.op,
                      .attributes = node.attributes,
                      .operands = std::move(operands),
                      .result = node.shape,
                      .placement = node.placement});
}

}    // namespace slipway
