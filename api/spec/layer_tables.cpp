#include <algorithm>

#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::size_t layers_max = 1000;
constexpr std::size_t inputs_max = 16;
constexpr std::size_t columns_max = 10000;
constexpr std::int64_t num_embeddings_max = 1 << 24;    // f32, as samples are, tells no more apart
/// Lists of layers inside one another: what a JSON body of 32 levels has room for, in answers too.
constexpr std::size_t depth_max = 12;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// As attributes of torch's modules, and never like a place in a list.
bool is_layer_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && is_letter(text.front()) && text != list_input &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

const TextForm layer_name{
    "1 to 64 letters, digits and underscores, starting with a letter, and not \"input\"",
    "^(?!input$)[A-Za-z_][A-Za-z0-9_]{0,63}$", is_layer_name};

std::vector<std::string_view> layer_types() {
    const auto words = all_words<LayerType>();
    return {words.begin(), words.end()};
}

bool joins(const LayerSpec& layer) {
    return layer.type == LayerType::add || layer.type == LayerType::concat;
}

/// What each layer's fields say together.
void judge_layer(const Json& given, LayerSpec& layer, const Reader& at) {
    const Reader inputs = at.at("inputs");
    if (joins(layer) && layer.inputs.size() < 2) {
        inputs.report(given.contains("inputs") ? "out_of_bounds" : "missing_field",
                      fmt::format("{} must name at least two layers for {} to combine, got {}",
                                  inputs.path(), to_string(layer.type), layer.inputs.size()));
    } else if (!joins(layer) && layer.inputs.size() > 1) {
        inputs.report("out_of_bounds",
                      fmt::format("{} must name one layer, got {}: {} reads one; combine them with "
                                  "add or concat first",
                                  inputs.path(), layer.inputs.size(), to_string(layer.type)));
    }
    if (layer.type == LayerType::conv2d && layer.out_channels % layer.groups != 0) {
        const Reader here = at.at("groups");
        here.report("inconsistent", fmt::format("{} must divide out_channels, got {} and {}",
                                                here.path(), layer.groups, layer.out_channels));
    }
    if (layer.padding_idx && *layer.padding_idx >= layer.num_embeddings) {
        const Reader here = at.at("padding_idx");
        here.report("inconsistent",
                    fmt::format("{} must be below num_embeddings, got {} of {}", here.path(),
                                *layer.padding_idx, layer.num_embeddings));
    }
    const bool pools = layer.type == LayerType::max_pool || layer.type == LayerType::avg_pool;
    if (pools && 2 * layer.padding > layer.kernel_size) {
        const Reader here = at.at("padding");
        here.report("inconsistent",
                    fmt::format("{} must be at most half of kernel_size, got {} of {}", here.path(),
                                layer.padding, layer.kernel_size));
    }
}

using Layers = std::vector<LayerSpec>;

void judge_name(const Layers& list, std::size_t index, const Reader& at) {
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
        if (list[index].name.empty() || list[earlier].name != list[index].name) continue;
        const Reader here = at.at("name");
        here.report("inconsistent", fmt::format("{} is \"{}\", which is also the name of layer {} "
                                                "of the same list; names must be unique in a list",
                                                here.path(), list[index].name, earlier));
    }
}

std::vector<std::string> names_before(const Layers& list, std::size_t index) {
    std::vector<std::string> names{std::string(list_input)};
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        names.push_back(name_in(list, earlier));
    return names;
}

void report_input(const Layers& list, std::size_t index, const std::string& name,
                  const Reader& at) {
    std::vector<std::string> names = names_before(list, index);
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto meant = nearest(name, views);
    const std::string hint = meant ? fmt::format("; did you mean \"{}\"?", *meant) : "";
    at.report("not_allowed",
              fmt::format("{} must be the name of an earlier layer of the same list (its position "
                          "if it has no name) or \"input\", got \"{}\"{}",
                          at.path(), shortened(name), hint),
              std::move(names));
}

/// Whether all of them exist.
bool judge_inputs(const Layers& list, std::size_t index, const Reader& at) {
    bool known = true;
    for (std::size_t i = 0; i < list[index].inputs.size(); ++i) {
        const std::string& name = list[index].inputs[i];
        if (find_source(list, index, name)) continue;
        report_input(list, index, name, at.at("inputs").at(i));
        known = false;
    }
    return known;
}

void judge_readers(const Layers& list, const Reader& at) {
    const std::vector<std::size_t> readers = reader_counts(list);
    for (std::size_t index = 0; index < list.size(); ++index) {
        if (readers[index + 1] > 0) continue;
        const Reader here = at.at(index);
        here.report(
            "inconsistent",
            fmt::format(
                "no layer reads {}: add \"{}\" to the inputs of a later layer, or remove it",
                here.path(), name_in(list, index)));
    }
}

/// Names, inputs and results of one list, then of the lists within. Says how many layers it saw.
std::size_t judge_list(const Layers& list, std::size_t depth, const Reader& at) {
    if (depth > depth_max) {
        at.report("out_of_bounds",
                  fmt::format("{} is nested {} lists of layers deep; the maximum is {}", at.path(),
                              depth, depth_max));
        return 0;
    }
    std::size_t count = list.size();
    bool known = true;
    for (std::size_t index = 0; index < list.size() && !at.full(); ++index) {
        const Reader here = at.at(index);
        judge_name(list, index, here);
        known = judge_inputs(list, index, here) && known;
        if (!list[index].layers.empty())
            count += judge_list(list[index].layers, depth + 1, here.at("layers"));
        if (!list[index].shortcut.empty())
            count += judge_list(list[index].shortcut, depth + 1, here.at("shortcut"));
    }
    if (known) judge_readers(list, at);    // a misspelt name leaves its layer unread
    return count;
}

}    // namespace

void judge_layers(const Layers& layers, const Reader& at) {
    const std::size_t count = judge_list(layers, 1, at);
    if (count <= layers_max) return;
    at.report("out_of_bounds",
              fmt::format("{} must have at most {} layers, including those of blocks, got {}",
                          at.path(), layers_max, count));
}

const Object<LayerSpec>& layer_table() {
    static const Recursive<LayerSpec> layer{&layer_table};
    static const auto table =
        Object<LayerSpec>("LayerSpec", "One layer of a layer-list model.")
            .variants("type", layer_types(), "",
                      [](const LayerSpec& spec) { return to_string(spec.type); })
            .field("type", &LayerSpec::type, "Type of the layer.", Choice<LayerType>{},
                   {.required = true})
            .field("name", &LayerSpec::name,
                   "Name of the layer, in inputs and in parameter names. Default: its position in "
                   "the list.",
                   Text{.form = &layer_name}, {.absent_when_empty = true})
            .field("inputs", &LayerSpec::inputs,
                   "Inputs: names of earlier layers of the same list, or \"input\" for the input "
                   "of the list. Default: the previous layer. add and concat need at least two.",
                   List<Text>{.item = {.max = 64}, .min = 1, .max = inputs_max},
                   {.absent_when_empty = true})
            .field("out_features", &LayerSpec::out_features,
                   "Number of output features. Default: as the task requires.",
                   Integer{.min = 1, .max = 1 << 20}, {.only = {"linear"}})
            .field("out_channels", &LayerSpec::out_channels, "Number of output channels.",
                   Integer{.min = 1, .max = 65536}, {.required = true, .only = {"conv2d"}})
            .field("kernel_size", &LayerSpec::kernel_size, "Side of the square kernel, in pixels.",
                   Integer{.min = 1, .max = 1024},
                   {.required = true, .only = {"conv2d", "max_pool", "avg_pool"}})
            .field("stride", &LayerSpec::stride,
                   "Step between kernel positions, in pixels. Default: 1 for conv2d, kernel_size "
                   "for pools.",
                   Integer{.min = 1, .max = 1024}, {.only = {"conv2d", "max_pool", "avg_pool"}})
            .field("padding", &LayerSpec::padding,
                   "Zero padding on each side, in pixels; max_pool never selects padding.",
                   Integer{.min = 0, .max = 1024}, {.only = {"conv2d", "max_pool", "avg_pool"}})
            .field("groups", &LayerSpec::groups,
                   "Number of channel groups; each is convolved separately.",
                   Integer{.min = 1, .max = 65536}, {.only = {"conv2d"}})
            .field("bias", &LayerSpec::bias, "Add a trainable bias.", Flag{},
                   {.only = {"linear", "conv2d"}})
            .field("eps", &LayerSpec::eps, "Term added to the variance for numerical stability.",
                   Number{.max = 1, .above = 0}, {.only = {"batch_norm", "layer_norm"}})
            .field("momentum", &LayerSpec::momentum,
                   "Weight of the batch statistics in the running statistics.",
                   Number{.max = 1, .above = 0}, {.only = {"batch_norm"}})
            .field("rate", &LayerSpec::rate, "Dropout probability, in training only.",
                   Number{.min = 0, .below = 1}, {.only = {"dropout"}})
            .field("approximate", &LayerSpec::approximate,
                   "none: exact, with the error function; tanh: the usual approximation.",
                   Choice<GeluApproximation>{}, {.only = {"gelu"}})
            .field("columns", &LayerSpec::columns, "Names of table columns to read, in this order.",
                   List<Text>{.item = {.max = 256}, .min = 1, .max = columns_max},
                   {.required = true, .only = {"columns"}})
            .field("num_embeddings", &LayerSpec::num_embeddings,
                   "Number of rows of the table; inputs are integers from 0 to num_embeddings - 1.",
                   Integer{.min = 1, .max = num_embeddings_max},
                   {.required = true, .only = {"embedding"}})
            .field("embedding_dim", &LayerSpec::embedding_dim, "Size of each embedding vector.",
                   Integer{.min = 1, .max = 65536}, {.required = true, .only = {"embedding"}})
            .field("padding_idx", &LayerSpec::padding_idx,
                   "Row that is initialised to zeros and receives no gradient.",
                   Integer{.min = 0, .max = num_embeddings_max - 1}, {.only = {"embedding"}})
            .field("layers", &LayerSpec::layers, "Layers of the block, in order.",
                   List<Recursive<LayerSpec>>{.item = layer, .min = 1, .max = layers_max},
                   {.required = true, .only = {"sequence", "residual"}})
            .field("shortcut", &LayerSpec::shortcut,
                   "Layers between the input and the sum, for results of another shape. Default: "
                   "the input itself is added.",
                   List<Recursive<LayerSpec>>{.item = layer, .min = 1, .max = layers_max},
                   {.only = {"residual"}, .absent_when_empty = true})
            .rule(judge_layer);
    return table;
}

}    // namespace slipway
