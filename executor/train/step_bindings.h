#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "api/base/check.h"
#include "executor/engine/engine.h"

namespace slipway {

/// What the program of a step reads. Each has those of its kind (train/step.h); the order is that
/// in which they were traced.
enum class StepInput {
    parameters,           ///< trained ones; of an evaluation all
    optimizer_state,      ///< parameter by parameter
    statistics,           ///< of batch norm
    gradient_sums,        ///< one for each trained parameter: of the step's batches so far
    frozen_parameters,    ///< those that are not trained
    hyper,                ///< optim/hyper.h
    dropout_rate,
    dropout_key,
    first_sample,
    features,
    labels,
    weights
};

/// What it gives.
enum class StepOutput {
    parameters,
    optimizer_state,
    statistics,
    gradient_sums,
    gradient_norm,    ///< before clipping; for a plan that clips
    sums,             ///< of the task, over all cores
    rows              ///< of the task, each core's own
};

/// Which places of a program's inputs, or of its outputs, a name stands for. Written while the
/// program is traced and read wherever it runs, so that the order is decided in one place.
template <class Name>
class Bindings {
public:
    /// The next `count` places are this name's.
    void add(Name name, std::size_t count) {
        check(find(name) == nullptr, "a name is bound once");
        ranges_.push_back({.name = name, .first = size_, .count = count});
        size_ += count;
    }

    std::size_t size() const { return size_; }    ///< of the program's whole list
    std::size_t first(Name name) const {
        const Range* range = find(name);
        return range != nullptr ? range->first : size_;
    }
    std::size_t count(Name name) const {
        const Range* range = find(name);
        return range != nullptr ? range->count : 0;
    }
    /// This name's part of a list in the program's order, which may leave out what comes after it;
    /// empty when the program has no such name.
    template <class T>
    std::span<T> of(std::span<T> list, Name name) const {
        const Range* range = find(name);
        if (range == nullptr) return {};
        check(range->first + range->count <= list.size(), "a list is in its program's order");
        return list.subspan(range->first, range->count);
    }

private:
    struct Range {
        Name name;
        std::size_t first, count;
    };

    const Range* find(Name name) const {
        for (const Range& range : ranges_)
            if (range.name == name) return &range;
        return nullptr;
    }

    std::vector<Range> ranges_;
    std::size_t size_ = 0;
};

/// The names of one program's inputs and outputs.
struct StepBindings {
    Bindings<StepInput> inputs;
    Bindings<StepOutput> outputs;
    std::vector<std::string> sum_names, row_names;    ///< of StepOutput::sums and rows
};

/// Values for a program's inputs, put in by name. The bindings outlive it.
class StepValues {
public:
    explicit StepValues(const Bindings<StepInput>& inputs)
        : inputs_(inputs), values_(inputs.size()) {}

    std::size_t count(StepInput name) const { return inputs_.count(name); }
    /// Values that all cores share: as many as the program has inputs of this name.
    void set(StepInput name, std::span<const Array> arrays);
    /// The value of a name with one input.
    void set(StepInput name, Value value);
    /// All of them, in the program's order. Each must have been set.
    std::vector<Value> take() &&;

private:
    const Bindings<StepInput>& inputs_;
    std::vector<Value> values_;
};

}    // namespace slipway
