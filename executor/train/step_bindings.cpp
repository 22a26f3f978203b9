#include "executor/train/step_bindings.h"

#include <algorithm>
#include <utility>

namespace slipway {

void StepValues::set(StepInput name, std::span<const Array> arrays) {
    check(arrays.size() == inputs_.count(name), "there is a value for each input of a name");
    std::size_t place = inputs_.first(name);
    for (const Array& array : arrays)
        values_[place++] = {{array}};
}

void StepValues::set(StepInput name, Value value) {
    check(inputs_.count(name) == 1, "a single value is for a name with one input");
    values_[inputs_.first(name)] = std::move(value);
}

std::vector<Value> StepValues::take() && {
    check(std::ranges::none_of(values_, [](const Value& value) { return value.arrays.empty(); }),
          "every input of a program has a value");
    return std::move(values_);
}

}    // namespace slipway
