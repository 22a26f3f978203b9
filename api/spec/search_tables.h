#pragma once

#include "api/spec/search_algorithm.h"
#include "api/spec/search_space.h"
#include "api/spec/table/object.h"

namespace slipway {

// The field tables of a hyperparameter search: kinds and tables that the sweep's own table uses.

/// Any JSON value but null: what a choice may hold.
struct AnyValue {
    using Value = Json;
    void read(const Json& json, Json& value, const Reader& at) const;
    Json write(const Json& value) const { return value; }
    Json schema(Definitions&) const;
    std::string wanted() const { return "a number, a string, true, false, an array or an object"; }
};

/// Parameters by dotted path. On the wire, paths may be nested objects, dotted keys or a mixture:
/// {"train": {"optimizer.lr": {"type": …}}}. An object whose "type" is a string is a parameter.
struct SpaceKind {
    using Value = std::map<std::string, ParameterSpec>;
    void read(const Json& json, Value& value, const Reader& at) const;
    Json write(const Value& value) const;
    Json schema(Definitions& definitions) const;
    std::string wanted() const;
};

/// Names joined by dots: "train.optimizer.lr", "model.layers.2.rate".
extern const TextForm search_path_form;

// search_space_tables.cpp
const Object<ParameterSpec>& parameter_table();
const Object<SearchSpace>& search_space_table();

// search_algorithm_tables.cpp
const Object<AlgorithmSpec>& algorithm_table();
const Object<SamplerSpec>& sampler_table();

}    // namespace slipway
