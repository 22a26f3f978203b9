#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/graph/ops.h"

namespace slipway {

/// One tensor of a model: its name in checkpoints, its input in graphs, its value between steps.
struct Parameter {
    std::string name;
    Tensor input;
    Array value;                 ///< the initial one, until the list forgets it
    bool trains = true;          ///< false: a table of the network's, or frozen by its author
    bool is_constant = false;    ///< part of the network's text, not of files of its weights
};

/// A number that only checkpoints have.
struct BatchCount {
    std::string name;
    std::int64_t value = 0;    ///< the initial one
};

/// Another name of a tensor in files of weights: a tied one, that the reference's programs may have
/// stored twice. Read, never written.
struct ParameterAlias {
    std::string name;
    std::string parameter;    ///< whose it is
};

/// A model's parameters in the order they were made: the order of inputs, optimizer state and
/// checkpoints. Beside them the statistics: kept in checkpoints and moved by each batch like
/// parameters, but by the forward pass (batch norm's running mean) and not by the optimizer. And
/// the names of batch counts: numbers that only checkpoints have, of training batches seen (torch's
/// num_batches_tracked).
class ParameterList {
public:
    /// Adds a trained tensor with its initial value; names are unique, statistics included.
    Tensor add(const std::string& name, Array initial);
    /// A tensor that stays as it is, of any element type: kept in checkpoints like a parameter.
    Tensor add_fixed(const std::string& name, Array value, bool is_constant = false);
    Tensor add_statistic(const std::string& name, Array initial);
    void add_batch_count(const std::string& name);
    /// `parameter` has been added.
    void add_alias(const std::string& name, const std::string& parameter);
    /// A tensor that files of the reference may have and no network needs, such as a mask.
    void add_unused(const std::string& name);
    /// From now on `add` makes one parameter of both: the name that is added second becomes an
    /// alias of the first and has its input; its initial value is dropped. Where the shapes differ
    /// they stay two. Ties of ties are one, too.
    void tie(const std::string& one, const std::string& other);

    std::vector<Parameter>& all() { return parameters_; }
    const std::vector<Parameter>& all() const { return parameters_; }
    std::vector<Parameter>& statistics() { return statistics_; }
    const std::vector<Parameter>& statistics() const { return statistics_; }
    std::vector<BatchCount>& batch_counts() { return batch_counts_; }
    const std::vector<BatchCount>& batch_counts() const { return batch_counts_; }
    const std::vector<ParameterAlias>& aliases() const { return aliases_; }
    const std::vector<std::string>& unused() const { return unused_; }
    /// Of trained tensors in the order they were added, tied ones under each of their names.
    const std::vector<std::string>& names() const { return names_; }
    /// Of the parameters, without statistics.
    std::vector<Tensor> inputs() const;
    /// Of parameters that train or could: not of whole numbers.
    std::int64_t element_count() const;
    /// Whoever trains has values of its own: the initial ones would hold the weights twice.
    void forget_values();

private:
    bool is_known(const std::string& name) const;
    /// The parameter that one of this name and shape is tied to; null when there is none yet.
    const Parameter* tied_to(const std::string& name, const Shape& shape) const;

    std::vector<Parameter> parameters_;
    std::vector<Parameter> statistics_;
    std::vector<BatchCount> batch_counts_;
    std::vector<ParameterAlias> aliases_;
    std::vector<std::string> unused_;
    std::vector<std::string> names_;
    std::map<std::string, std::size_t> ties_;    ///< name -> number of the group it is tied in
};

}    // namespace slipway
