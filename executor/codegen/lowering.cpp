// Nodes are lowered in topological order, each by its family (lower_*.cpp), into steps of a
// stage and buffers without places; places are found at the end, when the lives of all buffers
// are known (buffers.cpp). A value is a view of a buffer, so views cost nothing until a kernel
// wants a form that the view has not: then a copy is made, once for all who want the same form,
// and of a replicated value before the per-core stage that needs it. An output is computed where
// it belongs, or copied when all is done if its place is still read.
#include "executor/codegen/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "api/base/check.h"
#include "executor/codegen/buffers.h"
#include "executor/codegen/core_arenas.h"
#include "executor/codegen/joined_replicas.h"
#include "executor/codegen/kernels/movement.h"
#include "executor/codegen/node_views.h"
#include "executor/codegen/onednn/reorder.h"
#include "executor/codegen/waiting_contributions.h"
#include "executor/program/team.h"

namespace slipway {

namespace {

bool is_per_core_stage(int stage) {
    return stage % 2 == 1;
}

bool same(const View& a, const View& b) {
    return a.dims == b.dims && same_places(a, b);
}

bool reads(const Step& step, BufferId id) {
    return std::ranges::count(step.reads, id) > 0;
}

}    // namespace

std::string step_name(std::string_view name, const Shape& shape) {
    return fmt::format("{} {}", name, to_string(shape));
}

Lowering::Lowering(const Graph& graph, const LowerOptions& options, std::int64_t bucket_bytes,
                   Purpose purpose)
    : graph_(graph),
      options_(options),
      purpose_(purpose),
      analysis_(analyse(graph, bucket_bytes, options.in_blocks)),
      fusion_(fuse(graph, analysis_)),
      triangular_(analyze_triangular(graph)) {
    if (options_.kernels == nullptr) options_.kernels = std::make_shared<KernelStore>();
    keep_for_inlined();
    // The last stage is replicated: outputs that are copied have a place to be.
    stages_.resize(std::size_t(analysis_.last_stage) / 2 * 2 + 3);
}

/// Who computes a node again reads its operands in its own stage.
void Lowering::keep_for_inlined() {
    for (std::size_t i = analysis_.order.size(); i-- > 0;) {
        const Tensor& tensor = analysis_.order[i];
        if (!is_view(tensor.node()) && !fusion_.inlined.contains(tensor.get())) continue;
        const int last = facts(tensor).last_use_stage;
        for (const Tensor& operand : tensor.node().operands) {
            int& kept = analysis_.facts.at(operand.get()).last_use_stage;
            kept = std::max(kept, last);
        }
    }
}

Program Lowering::run() {
    add_inputs();
    add_outputs();
    lower_nodes();
    copy_outputs();
    settle_donations();
    flatten();
    settle_together();
    return std::move(program_);
}

Kernel Lowering::compiled(const LoopKernel& kernel) {
    if (purpose_ == Purpose::plan) return [](const KernelCall&) {};
    const LoopCode& code = options_.kernels->get(kernel);
    if (codes_.insert(&code).second) program_.code_bytes += code.bytes;
    return kernel_of(options_.kernels, code);
}

void Lowering::set_value(const Tensor& tensor, PlacedValue value) {
    values_.insert_or_assign(tensor.get(), std::move(value));
}

void Lowering::unbatch(const Tensor& batched) {
    NodeFacts& batched_facts = analysis_.facts.at(batched.get());
    batched_facts.is_batched = false;
    if (options_.in_blocks) return;    // it is in its own stage already
    batched_facts.stage = batched_facts.last_use_stage = batched_facts.stage - 1;
    batched_facts.region = Region::sum;
}

void Lowering::keep(BufferId buffer) {
    Region& region = program_.buffers[buffer].region;
    if (region == Region::worker) region = Region::core;
}

const PlacedValue& Lowering::value_of(const Tensor& tensor) {
    const auto known = values_.find(tensor.get());
    if (known != values_.end()) return known->second;
    if (tensor.node().op == OpCode::constant)
        lower_constant(*this, tensor);
    else if (tensor.node().op == OpCode::iota)
        lower_iota(*this, tensor);
    else
        lower_view(*this, tensor);
    return values_.at(tensor.get());
}

BufferId Lowering::add_buffer(Buffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return BufferId(program_.buffers.size() - 1);
}

void Lowering::add_inputs() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
        const Tensor& input = graph_.inputs[i];
        const Placement placement = input.node().placement;
        program_.inputs.push_back({input.shape(), placement == Placement::per_core, {}});
        input_buffers_.push_back(
            add_buffer({.shape = input.shape(), .region = Region::input, .position = i}));
        set_value(input,
                  {input_buffers_.back(), dense_view(input.dims()), input.dtype(), placement});
    }
}

void Lowering::add_outputs() {
    for (const Tensor& output : graph_.outputs)
        program_.outputs.push_back(
            {output.shape(), output.node().placement == Placement::per_core, {}});
    for (const Graph::Donation& donation : graph_.donations) {
        program_.outputs[donation.output].donated = donation.input;
        program_.inputs[donation.input].donated = donation.output;
    }
}

BufferId Lowering::make_temporary(const Shape& shape, int stage) {
    const Region region = is_per_core_stage(stage) ? Region::worker : Region::shared;
    return add_buffer({.shape = shape, .region = region});
}

BufferId Lowering::make_batched(const Shape& shape, int stage) {
    const BufferId buffer = make_temporary(shape, stage);
    keep(buffer);
    return buffer;
}

BufferId Lowering::make_result(const Tensor& tensor) {
    return make_result(tensor, row_major(tensor.dims().size()));
}

BufferId Lowering::make_result(const Tensor& tensor, const Dims& order) {
    const NodeFacts& node_facts = facts(tensor);
    const View view = ordered_view(tensor.dims(), order);
    Region region = Region::shared;
    if (is_per_core_stage(node_facts.stage))
        region = node_facts.last_use_stage > node_facts.stage ? Region::core : Region::worker;
    std::size_t position = 0;
    const bool inputs_program =
        node_facts.region == Region::input || node_facts.region == Region::output;
    if (inputs_program && !is_dense(view)) {
        const std::size_t output = node_facts.region == Region::output
                                       ? node_facts.position
                                       : *program_.inputs[node_facts.position].donated;
        analysis_.copied_outputs.push_back(output);
    } else if (node_facts.region) {
        region = *node_facts.region;
        position = node_facts.position;
    }
    const BufferId buffer =
        add_buffer({.shape = tensor.shape(), .region = region, .position = position});
    set_value(tensor, {buffer, view, tensor.dtype(), tensor.node().placement});
    return buffer;
}

void Lowering::emit_packed(const Tensor& tensor, std::string name, const LibraryKernel& kernel,
                           std::vector<BufferId> reads) {
    check(kernel.packing.has_value(), "the kernel leaves its result packed");
    const NodeFacts& node_facts = facts(tensor);
    const auto size = std::int64_t(size_in_bytes(tensor.dtype()));
    const Shape shape{tensor.dtype(), {kernel.packing->layout.byte_count / size}};
    const bool is_summed = node_facts.region == Region::sum && node_facts.is_only_summed;
    if (is_summed) {
        const BufferId sum = add_buffer({.shape = shape, .region = Region::sum});
        emit(node_facts.stage, std::move(name), kernel, std::move(reads), sum);
        packings_.emplace(tensor.get(), *kernel.packing);
        set_value(tensor, {sum, dense_view(shape.dims), tensor.dtype(), tensor.node().placement});
        return;
    }
    const BufferId held = make_temporary(shape, node_facts.stage);
    emit(node_facts.stage, std::move(name), kernel, std::move(reads), held);
    unpack(tensor, *kernel.packing, held);
}

const Packing* Lowering::packing_of(const Tensor& tensor) const {
    const auto known = packings_.find(tensor.get());
    return known == packings_.end() ? nullptr : &known->second;
}

void Lowering::unpack(const Tensor& tensor, const Packing& packing, BufferId from) {
    emit_packing(facts(tensor).stage, step_name("unpack", tensor.shape()), packing, from,
                 make_result(tensor));
}

BufferId Lowering::add_constant(const Shape& shape, const std::vector<std::byte>& bytes) {
    constexpr std::size_t alignment = 64;
    const std::size_t offset = (constants_.size() + alignment - 1) / alignment * alignment;
    constants_.resize(offset);
    constants_.insert(constants_.end(), bytes.begin(), bytes.end());
    return add_buffer({.shape = shape, .region = Region::constant, .offset = std::int64_t(offset)});
}

void Lowering::emit(int stage, Step step) {
    StageParts& parts = stages_[std::size_t(stage)];
    const bool is_block_step = step.batches_cores && is_per_core_stage(stage);
    (is_block_step ? parts.block_steps : parts.steps).push_back(std::move(step));
}

Step Lowering::library_step(int stage, std::string name, const LibraryKernel& kernel,
                            std::vector<BufferId> reads, BufferId result) {
    Step step{.name = std::move(name),
              .reads = std::move(reads),
              .writes = {result},
              .in_place = {},
              .elements = 0,
              .kernel = kernel.kernel};
    if (kernel.scratch_bytes > 0) {
        const BufferId scratch = make_temporary({DType::u8, {kernel.scratch_bytes}}, stage);
        program_.buffers[scratch].is_in_turn = is_per_core_stage(stage);
        step.writes.push_back(scratch);
    }
    return step;
}

void Lowering::emit(int stage, std::string name, const LibraryKernel& kernel,
                    std::vector<BufferId> reads, BufferId result) {
    emit(stage, library_step(stage, std::move(name), kernel, std::move(reads), result));
}

void Lowering::emit_packing(int stage, std::string name, const Packing& packing, BufferId from,
                            BufferId to) {
    const LibraryKernel kernel{packing.kernel, packing.scratch_bytes, "", {}};
    Step step = library_step(stage, std::move(name), kernel, {from}, to);
    step.elements = packing.elements;
    step.has_coarse_elements = packing.elements > 0;
    emit(stage, std::move(step));
}

PlacedValue Lowering::add_sum(int stage, const PlacedValue& value, Sum sum) {
    std::vector<Sum>& sums = stages_[std::size_t(stage)].sums;
    PlacedValue result = value;
    result.placement = Placement::replicated;
    const bool is_placed = program_.buffers[value.buffer].region == Region::sum &&
                           order_of(value.view) &&
                           std::ranges::count(sums, value.buffer, &Sum::buffer) == 0;
    check(is_placed || !sum.by_block, "what block steps make lies where it is summed");
    if (!is_placed) {
        result.view = dense_view(value.view.dims);
        result.buffer =
            add_buffer({.shape = {value.dtype, value.view.dims}, .region = Region::sum});
        emit_copy(stage, value, result.buffer);
    }
    sum.buffer = result.buffer;
    sums.push_back(sum);
    return result;
}

void Lowering::emit_copy(int stage, const PlacedValue& from, BufferId to) {
    emit_copy(stage, from, row_major(from.view.dims.size()), to);
}

void Lowering::emit_copy(int stage, const PlacedValue& from, const Dims& order, BufferId to) {
    const View source = transposed_view(from.view, order);
    std::string name = step_name("copy", program_.buffers[to].shape);
    // What no straight loop copies, the library transposes faster.
    const bool is_straight = make_nest(source.dims, std::span(&source, 1)).is_flat();
    if (!is_straight) {
        if (const auto kernel = make_reorder(source, from.dtype, options_.workers))
            return emit(stage, std::move(name), *kernel, {from.buffer}, to);
    }
    CopyKernel copy = make_copy(source, from.dtype);
    Step step{.name = std::move(name),
              .reads = {from.buffer},
              .writes = {to},
              .in_place = {},
              .elements = copy.elements,
              .kernel = std::move(copy.kernel)};
    if (copy.in_place) step.in_place.emplace_back(0, 0);
    emit(stage, std::move(step));
}

PlacedValue Lowering::dense(const PlacedValue& value, int stage) {
    return ordered(value, row_major(value.view.dims.size()), stage);
}

bool Lowering::is_shared(const PlacedValue& value, int stage) const {
    return value.placement == Placement::replicated && is_per_core_stage(stage);
}

int Lowering::copy_stage_of(const PlacedValue& value, int stage) const {
    return is_shared(value, stage) ? stage - 1 : stage;
}

PlacedValue Lowering::ordered(const PlacedValue& value, const Dims& order, int stage) {
    const View target = ordered_view(value.view.dims, order);
    if (same_places(value.view, target)) return value;
    const int copy_stage = copy_stage_of(value, stage);
    PlacedValue result{0, target, value.dtype, value.placement};
    for (const Copy& copy : copies_) {
        const bool reaches = copy.stage == copy_stage ||
                             (value.placement == Placement::replicated && copy.stage < copy_stage);
        if (copy.from != value.buffer || !reaches || !same(copy.view, value.view) ||
            !same(copy.target, target))
            continue;
        result.buffer = copy.to;
        return result;
    }
    result.buffer = make_temporary({value.dtype, value.view.dims}, copy_stage);
    emit_copy(copy_stage, value, order, result.buffer);
    copies_.push_back({value.buffer, value.view, target, copy_stage, result.buffer});
    return result;
}

BufferId Lowering::packed(const PlacedValue& value, const Packing& packing, int stage) {
    const int copy_stage = copy_stage_of(value, stage);
    for (const PackedCopy& copy : packed_copies_) {
        const bool reaches = copy.stage == copy_stage ||
                             (value.placement == Placement::replicated && copy.stage < copy_stage);
        if (copy.from == value.buffer && reaches && copy.packing.packs_as(packing)) return copy.to;
    }
    const BufferId to = make_temporary({DType::u8, {packing.layout.byte_count}}, copy_stage);
    emit_packing(copy_stage, step_name("pack", {value.dtype, value.view.dims}), packing,
                 value.buffer, to);
    packed_copies_.push_back({value.buffer, packing, copy_stage, to});
    return to;
}

void Lowering::copy_outputs() {
    for (const std::size_t position : analysis_.copied_outputs)
        copy_output(position);
}

void Lowering::copy_output(std::size_t position) {
    const Tensor& output = graph_.outputs[position];
    const PlacedValue& value = value_of(output);
    const Slot& slot = program_.outputs[position];
    const int last = int(stages_.size()) - 1;
    if (!slot.donated) {
        const BufferId target =
            add_buffer({.shape = slot.shape, .region = Region::output, .position = position});
        emit_copy(slot.per_core ? facts(output).stage : last, value, target);
        return;
    }
    const bool is_itself = value.buffer == input_buffers_[*slot.donated] && is_dense(value.view);
    if (is_itself) return;
    // By way of a temporary: the value may lie in an input that another output takes over.
    const BufferId held = make_temporary(slot.shape, last);
    emit_copy(last, value, held);
    const BufferId target =
        add_buffer({.shape = slot.shape, .region = Region::input, .position = *slot.donated});
    const PlacedValue held_value{held, dense_view(slot.shape.dims), slot.shape.dtype,
                                 Placement::replicated};
    emit_copy(last, held_value, target);
    last_steps_.push_back(std::move(stages_.back().steps.back()));
    stages_.back().steps.pop_back();
}

void Lowering::settle_donations() {
    for (const Graph::Donation& donation : graph_.donations)
        settle_donation(donation.output, donation.input);
    for (Step& step : last_steps_)
        emit(int(stages_.size()) - 1, std::move(step));
}

/// A result may be written over its input only when nobody reads the old value any more; else it
/// goes into a temporary and is copied when all is done.
void Lowering::settle_donation(std::size_t position, std::size_t input) {
    for (BufferId id = 0; id < program_.buffers.size(); ++id) {
        Buffer& buffer = program_.buffers[id];
        const bool is_result = buffer.region == Region::input && buffer.position == input &&
                               id != input_buffers_[input];
        if (!is_result || !overwrites_too_early(input, id)) continue;
        buffer.region = Region::shared;
        buffer.position = 0;
        const Slot& slot = program_.outputs[position];
        const PlacedValue value{id, dense_view(slot.shape.dims), slot.shape.dtype,
                                Placement::replicated};
        const BufferId target =
            add_buffer({.shape = slot.shape, .region = Region::input, .position = input});
        const int last = int(stages_.size()) - 1;
        emit_copy(last, value, target);
        last_steps_.push_back(std::move(stages_.back().steps.back()));
        stages_.back().steps.pop_back();
        return;
    }
}

bool Lowering::overwrites_too_early(std::size_t input, BufferId result) const {
    const BufferId old = input_buffers_[input];
    bool written = false;
    for (const StageParts& stage : stages_) {
        for (const Step& step : stage.steps) {
            if (written && reads(step, old)) return true;
            const auto write = std::ranges::find(step.writes, result);
            if (write == step.writes.end()) continue;
            written = true;
            const auto position = std::size_t(write - step.writes.begin());
            for (std::size_t k = 0; k < step.reads.size(); ++k)
                if (step.reads[k] == old &&
                    std::ranges::count(step.in_place, std::pair(k, position)) == 0)
                    return true;
        }
    }
    return false;
}

int Lowering::batched_cores() const {
    return options_.in_blocks ? block_cores : options_.cores;
}

int Lowering::replicas_together() const {
    return core_blocks({options_.cores, options_.workers}).front().count;
}

PlacedValue Lowering::held(const PlacedValue& value, int stage) {
    const PlacedValue copy{make_temporary({value.dtype, value.view.dims}, stage),
                           dense_view(value.view.dims), value.dtype, value.placement};
    emit_copy(stage, value, copy.buffer);
    return copy;
}

bool Lowering::may_run_together(int stage, const std::vector<PlacedValue>& values) const {
    return is_per_core_stage(stage) && replicas_together() > 1 &&
           std::ranges::all_of(values, [&](const PlacedValue& value) {
               const Buffer& buffer = program_.buffers[value.buffer];
               return (buffer.region == Region::worker || buffer.region == Region::core) &&
                      order_of(value.view) &&
                      element_count(value.view) == buffer.shape.element_count();
           });
}

/// Replicas run together only where no contribution to a sum has to wait for a second step.
bool Lowering::may_settle_together() const {
    const auto touches = [&](const Step& step, BufferId id) {
        return reads(step, id) || std::ranges::count(step.writes, id) > 0;
    };
    const auto is_touched_once = [&](const Stage& stage) {
        const std::span steps(program_.steps.data() + stage.first_step, stage.step_count);
        return std::ranges::all_of(stage.sums, [&](const Sum& sum) {
            return sum.by_block || std::ranges::count_if(steps, [&](const Step& step) {
                                       return touches(step, sum.buffer);
                                   }) == 1;
        });
    };
    const bool some =
        std::ranges::any_of(program_.steps, [](const Step& step) { return bool(step.together); });
    return some && std::ranges::all_of(program_.stages, is_touched_once);
}

/// What a worker held for one replica after the other it then holds for all at once. Convolutions
/// pay for that, products only for a little: a transformer's activations are most of its memory.
void Lowering::settle_together() {
    if (!may_settle_together()) {
        for (Step& step : program_.steps)
            step.together = {};
    } else if (wants_together_) {
        program_.replicas_together = replicas_together();
        let_contributions_wait(program_);
    } else {
        return join_in_little_memory(program_, replicas_together(),
                                     {.workers = options_.workers,
                                      .cores = options_.cores,
                                      .saves_memory = options_.saves_memory});
    }
    join_arenas(program_, {.cores = options_.cores, .workers = options_.workers});
    place_buffers(program_);
}

void Lowering::flatten() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        StageParts& parts = stages_[i];
        const std::size_t step_count = parts.steps.size() + parts.block_steps.size();
        if (step_count == 0) continue;
        program_.stages.push_back({.per_core = is_per_core_stage(int(i)),
                                   .first_step = program_.steps.size(),
                                   .step_count = step_count,
                                   .sums = std::move(parts.sums),
                                   .block_step_count = parts.block_steps.size()});
        for (auto* steps : {&parts.steps, &parts.block_steps})
            for (Step& step : *steps)
                program_.steps.push_back(std::move(step));
    }
    if (constants_.empty()) return;
    program_.constants = Array({DType::u8, {std::int64_t(constants_.size())}});
    std::memcpy(program_.constants.bytes(), constants_.data(), constants_.size());
}

}    // namespace slipway
