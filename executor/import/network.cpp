// One flat JSON object. An argument that is a value of the graph is {"value": name}, a text is
// {"text": …}, a floating number is {"number": …} with its bits as an integer, so that infinities
// and signed zeros survive; the rest is JSON's own.
#include "executor/import/network.h"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <string_view>

#include "api/base/error.h"
#include "api/base/parsed_json.h"
#include "executor/tensor/find_dtype.h"

namespace slipway::importer {

namespace {

constexpr JsonLimits stored_limits{
    .bytes_max = std::size_t{256} << 20, .depth_max = 32, .items_max = 1'000'000};

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};

Json encode(const Argument& argument) {
    return std::visit(
        Overloaded{[](std::monostate) { return Json(); }, [](bool flag) { return Json(flag); },
                   [](std::int64_t integer) { return Json(integer); },
                   [](double number) {
                       return Json{{"number", std::bit_cast<std::int64_t>(number)}};
                   },
                   [](const std::string& text) {
                       return Json{{"text", text}};
                   },
                   [](const ValueName& value) {
                       return Json{{"value", value.name}};
                   },
                   [](const std::vector<Argument>& list) {
                       Json items = Json::array();
                       for (const Argument& item : list)
                           items.push_back(encode(item));
                       return items;
                   }},
        argument.value);
}

Argument decode_argument(const Json& json) {
    if (json.is_null()) return {};
    if (json.is_boolean()) return {json.get<bool>()};
    if (json.is_number_integer()) return {json.get<std::int64_t>()};
    if (json.is_array()) {
        std::vector<Argument> list;
        for (const Json& item : json)
            list.push_back(decode_argument(item));
        return {std::move(list)};
    }
    if (json.contains("number"))
        return {std::bit_cast<double>(json.at("number").get<std::int64_t>())};
    if (json.contains("text")) return {json.at("text").get<std::string>()};
    return {ValueName{json.at("value").get<std::string>()}};
}

constexpr std::array<std::string_view, 4> kind_words{"parameter", "buffer", "constant", "sample"};

InputKind kind_of(const std::string& word) {
    const auto found = std::ranges::find(kind_words, word);
    if (found == kind_words.end())
        throw Error(ErrorCode::data_loss, "the stored network has an input of kind " + word);
    return InputKind(found - kind_words.begin());
}

DType dtype_named(const std::string& word) {
    if (const auto dtype = find_dtype(word)) return *dtype;
    throw Error(ErrorCode::data_loss, "the stored network has an input of type " + word);
}

Json encode(const NetworkInput& input) {
    Json json{{"kind", kind_words[std::size_t(input.kind)]},
              {"name", input.name},
              {"target", input.target},
              {"dtype", to_string(input.dtype)},
              {"dims", input.dims},
              {"requires_grad", input.requires_grad},
              {"persistent", input.persistent},
              {"shares", input.shares}};
    if (input.number) json["number"] = std::bit_cast<std::int64_t>(*input.number);
    return json;
}

NetworkInput decode_input(const Json& json) {
    NetworkInput input{.kind = kind_of(json.at("kind")),
                       .name = json.at("name"),
                       .target = json.at("target"),
                       .dtype = dtype_named(json.at("dtype")),
                       .dims = json.at("dims").get<Dims>(),
                       .requires_grad = json.at("requires_grad"),
                       .persistent = json.at("persistent"),
                       .shares = json.at("shares"),
                       .number = {}};
    if (json.contains("number"))
        input.number = std::bit_cast<double>(json.at("number").get<std::int64_t>());
    return input;
}

Json encode(const NetworkNode& node) {
    Json arguments = Json::array();
    for (const NamedArgument& one : node.arguments)
        arguments.push_back({one.name, encode(one.argument)});
    return {{"op", node.op},
            {"name", node.name},
            {"module", node.module},
            {"arguments", std::move(arguments)},
            {"results", node.results}};
}

NetworkNode decode_node(const Json& json) {
    NetworkNode node{.op = json.at("op"),
                     .name = json.at("name"),
                     .module = json.at("module"),
                     .arguments = {},
                     .results = json.at("results").get<std::vector<std::string>>()};
    for (const Json& one : json.at("arguments"))
        node.arguments.push_back({one.at(0), decode_argument(one.at(1))});
    return node;
}

Network decode(const Json& json) {
    Network network{.source = json.at("source"), .inputs = {}, .nodes = {}, .outputs = {}};
    for (const Json& input : json.at("inputs"))
        network.inputs.push_back(decode_input(input));
    for (const Json& node : json.at("nodes"))
        network.nodes.push_back(decode_node(node));
    for (const Json& output : json.at("outputs"))
        network.outputs.push_back(decode_argument(output));
    return network;
}

}    // namespace

std::string encode_network(const Network& network) {
    Json inputs = Json::array(), nodes = Json::array(), outputs = Json::array();
    for (const NetworkInput& input : network.inputs)
        inputs.push_back(encode(input));
    for (const NetworkNode& node : network.nodes)
        nodes.push_back(encode(node));
    for (const Argument& output : network.outputs)
        outputs.push_back(encode(output));
    return Json{{"source", network.source},
                {"inputs", std::move(inputs)},
                {"nodes", std::move(nodes)},
                {"outputs", std::move(outputs)}}
        .dump();
}

Network decode_network(const std::string& text) {
    const Result<ParsedJson> parsed = parse_json(text, stored_limits);
    if (!parsed)
        throw Error(ErrorCode::data_loss,
                    std::string("the stored network is damaged: ") + parsed.error().what());
    try {
        return decode(parsed->value);
    } catch (const Json::exception& error) {
        throw Error(ErrorCode::data_loss,
                    std::string("the stored network is damaged: ") + error.what());
    }
}

}    // namespace slipway::importer
