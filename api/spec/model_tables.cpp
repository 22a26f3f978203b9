#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

std::vector<std::string_view> architectures() {
    const auto words = all_words<Arch>();
    return {words.begin(), words.end()};
}

/// The architectures that read text, or those that do not.
std::vector<std::string_view> architectures(bool of_text) {
    std::vector<std::string_view> names;
    for (const std::string_view name : all_words<Arch>())
        if (language_task(*parse_word<Arch>(name)).has_value() == of_text) names.push_back(name);
    return names;
}

std::vector<std::string_view> with_attention() {
    std::vector<std::string_view> names = architectures(true);
    names.insert(names.begin(), {"vit_tiny", "vit_small", "vit_base"});
    return names;
}

void judge_sync(const ModelSpec& spec, const Reader& at) {
    if (!spec.sync_batch_norm || has_batch_norm(spec)) return;
    at.report(
        "inconsistent",
        fmt::format("{} needs a layer of type batch_norm; add one, or leave it out", at.path()));
}

void judge_ties(const ModelSpec& spec, const Reader& at) {
    for (std::size_t i = 0; i < spec.tie.size(); ++i) {
        if (spec.tie[i][0] != spec.tie[i][1]) continue;
        const Reader here = at.at(i);
        here.report("inconsistent", fmt::format("{} ties \"{}\" to itself; name two parameters",
                                                here.path(), shortened(spec.tie[i][0])));
    }
}

}    // namespace

const Object<InitSpec>& init_table() {
    static const auto table =
        Object<InitSpec>("InitSpec", "Weights to begin with, instead of drawn ones.")
            .field("from", &InitSpec::from,
                   "Id of a checkpoint, or of an upload that is a safetensors file; for "
                   "slipway-executor run the path of either.",
                   Text{.max = 1000}, {.required = true})
            .field("strict", &InitSpec::strict,
                   "Refuse weights that are missing, left over or of another shape; false: load "
                   "what fits and log the rest.",
                   Flag{});
    return table;
}

const Object<HeadSpec>& head_table() {
    static const auto table =
        Object<HeadSpec>("HeadSpec", "Its last layer.")
            .field("replace", &HeadSpec::replace,
                   "Draw it anew instead of loading it: for other classes than the weights had.",
                   Flag{});
    return table;
}

const Object<ModelSpec>& model_table() {
    static const auto table =
        Object<ModelSpec>("ModelSpec", "The network.")
            .variants("arch", architectures(), "",
                      [](const ModelSpec& spec) { return to_string(spec.arch); })
            .field("arch", &ModelSpec::arch, "Its architecture.", Choice<Arch>{},
                   {.required = true})
            .field("num_classes", &ModelSpec::num_classes,
                   "Classes it tells apart, at least 2, or for multilabel and regression the "
                   "number of labels; without it as many as the dataset has.",
                   Integer{.min = 1, .max = 100000}, {.only = architectures(false)})
            .field("width", &ModelSpec::width, "Features of each hidden layer.",
                   Integer{.min = 1, .max = 65536}, {.only = {"mlp"}, .unless = "hidden"})
            .field("depth", &ModelSpec::depth, "Hidden layers.", Integer{.min = 0, .max = 64},
                   {.only = {"mlp"}, .unless = "hidden"})
            .field("hidden", &ModelSpec::hidden,
                   "Features of each hidden layer in order, instead of width and depth.",
                   List<Integer>{.item = {.min = 1, .max = 65536}, .max = 64}, {.only = {"mlp"}})
            .field("dropout", &ModelSpec::dropout,
                   "Share of the activations that training sets to 0; evaluation drops none.",
                   Number{.min = 0, .below = 1}, {.only = architectures(true)})
            .field("vocab_size", &ModelSpec::vocab_size,
                   "Tokens it knows; without it as many as the tokenizer has.",
                   Integer{.min = 2, .max = 1 << 20}, {.only = architectures(true)})
            .field("max_length", &ModelSpec::max_length,
                   "Positions it knows, in tokens: the longest text; without it 512 of BERT and "
                   "1024 of GPT.",
                   Integer{.min = 2, .max = 65536}, {.only = architectures(true)})
            .field("heads", &ModelSpec::heads,
                   "Heads of its attention, a divisor of its features; without it as published.",
                   Integer{.min = 1, .max = 1024}, {.only = with_attention()})
            .field("layers", &ModelSpec::layers, "The network's layers, one after the other.",
                   List<Nested<LayerSpec>>{.item = {&layer_table()}, .min = 1, .max = 1000},
                   {.required = true, .only = {"layers"}})
            .field("sync_batch_norm", &ModelSpec::sync_batch_norm,
                   "Batch norms take the mean and variance over all cores instead of each core's "
                   "own batch, at the price of two sums over the cores forward and one backward.",
                   Flag{}, {.only = {"resnet18", "resnet34", "resnet50", "layers"}})
            .field("tie", &ModelSpec::tie,
                   "Pairs of names of parameters that are one: trained once, stored once.",
                   List<Pair<Text>>{.item = {{.max = 300}}, .max = 1000, .unique = true},
                   {.absent_when_empty = true})
            .field("init", &ModelSpec::init, "Weights to begin with, instead of drawn ones.",
                   Nested<InitSpec>{&init_table()})
            .field("head", &ModelSpec::head, "Its last layer.", Nested<HeadSpec>{&head_table()})
            .field("freeze", &ModelSpec::freeze,
                   "Patterns of names of parameters that keep their values, such as layer1.*; * "
                   "stands for any text.",
                   List<Text>{.item = {}, .max = 1000, .unique = true}, {.absent_when_empty = true})
            .rule([](const Json&, ModelSpec& spec, const Reader& at) {
                judge_layers(spec.layers, at.at("layers"));
                judge_ties(spec, at.at("tie"));
                judge_sync(spec, at.at("sync_batch_norm"));
                if (!spec.head.replace || spec.init) return;
                const Reader here = at.at("head").at("replace");
                here.report("inconsistent",
                            fmt::format("{} needs weights that it is another head of: set "
                                        "model.init.from, or leave it out",
                                        here.path()));
            });
    return table;
}

const Object<AcceleratorSpec>& accelerator_table() {
    static const auto table =
        Object<AcceleratorSpec>("AcceleratorSpec",
                                "What it runs on: a number of cores, or one core by number.")
            .variants(
                "", {"cores", "core_ids"}, "cores",
                [](const AcceleratorSpec& spec) { return spec.core_id ? "core_ids" : "cores"; })
            .field("cores", &AcceleratorSpec::cores,
                   "Virtual cores of one machine; gradients are summed over them.",
                   IntegerChoice{{1, 8}}, {.only = {"cores"}})
            .field("core_ids", &AcceleratorSpec::core_id,
                   "Exactly this core; the job waits for it.",
                   Single<Integer>{{.min = 1, .max = 8}}, {.required = true, .only = {"core_ids"}})
            .field("memory_bytes", &AcceleratorSpec::memory_bytes,
                   "A program that needs more memory than this is refused before it runs.",
                   Integer{.min = 1 << 20})
            .later({"slice"});
    return table;
}

}    // namespace slipway
