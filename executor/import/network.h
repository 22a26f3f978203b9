#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "executor/tensor/shape.h"

/// A network as an exporter wrote it: one neutral form for every kind of file. Nodes stand in the
/// order in which they run and name the values they read. Operators have the names of PyTorch's
/// ATen library (operator_table.h has those that can be trained).
namespace slipway::importer {

/// The name of a value in the graph: an input, or the result of a node.
struct ValueName {
    std::string name;
    bool operator==(const ValueName&) const = default;
};

/// What a node is given for one of its parameters.
struct Argument {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, ValueName,
                 std::vector<Argument>>
        value;
    bool operator==(const Argument&) const = default;
};

struct NamedArgument {
    std::string name;
    Argument argument;
    bool operator==(const NamedArgument&) const = default;
};

struct NetworkNode {
    std::string op;                          ///< "aten.conv2d.default"
    std::string name;                        ///< unique among the nodes
    std::string module;                      ///< where it stands: "layer1.0.conv1"; may be empty
    std::vector<NamedArgument> arguments;    ///< those that have their default are absent
    std::vector<std::string> results;        ///< of an unused result: an empty name
    bool operator==(const NetworkNode&) const = default;
};

enum class InputKind : std::uint8_t {
    parameter,    ///< is trained, or is frozen
    buffer,       ///< of the state dict, moved by no optimizer: running statistics, tables
    constant,     ///< a tensor of the program text
    sample        ///< what a batch gives
};

struct NetworkInput {
    InputKind kind = InputKind::sample;
    std::string name;      ///< in the graph
    std::string target;    ///< in the state dict: "layer1.0.conv1.weight"; of a sample its name
    DType dtype = DType::f32;
    Dims dims = {};                       ///< of a sample: the batch is free, and -1
    bool requires_grad = true;            ///< of a parameter: false where the module has frozen it
    bool persistent = true;               ///< of a buffer: part of the state dict
    std::string shares = {};              ///< target of an earlier input: both are one tensor
    std::optional<double> number = {};    ///< of a constant without dims: its value
    bool operator==(const NetworkInput&) const = default;
};

struct Network {
    std::string source;    ///< who wrote it, in words: "torch 2.15.0"
    std::vector<NetworkInput> inputs;
    std::vector<NetworkNode> nodes;
    std::vector<Argument> outputs;    ///< of the module's result, in order
    bool operator==(const Network&) const = default;
};

/// The form in which a checkpoint keeps a network: JSON text without weights.
std::string encode_network(const Network& network);
/// errors  data_loss when it is not what encode_network writes
Network decode_network(const std::string& text);

/// The name of the file of a checkpoint that has it.
inline constexpr const char* network_file_name = "network.json";

}    // namespace slipway::importer
