#include <fmt/format.h>

#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

std::vector<std::string_view> architectures() {
    const auto words = all_words<Arch>();
    return {words.begin(), words.end()};
}

std::vector<std::string_view> of_text() {
    return architectures_where(
        [](const ArchitectureTraits& row) { return bool(row.language_task); });
}

std::vector<std::string_view> not_of_text() {
    return architectures_where([](const ArchitectureTraits& row) { return !row.language_task; });
}

std::vector<std::string_view> with_attention() {
    return architectures_where([](const ArchitectureTraits& row) { return row.has_attention; });
}

/// Of a network of layers its list decides: see judge_sync.
std::vector<std::string_view> with_batch_norm() {
    std::vector<std::string_view> names =
        architectures_where([](const ArchitectureTraits& row) { return row.has_batch_norm; });
    names.push_back(to_string(Arch::layers));
    return names;
}

void judge_sync(const ModelSpec& spec, const Reader& at) {
    if (!spec.sync_batch_norm || has_batch_norm(spec)) return;
    at.report(
        "inconsistent",
        fmt::format("{} requires a layer of type batch_norm; add one, or leave it out", at.path()));
}

void judge_ties(const ModelSpec& spec, const Reader& at) {
    for (std::size_t i = 0; i < spec.tie.size(); ++i) {
        if (spec.tie[i][0] != spec.tie[i][1]) continue;
        const Reader here = at.at(i);
        here.report("inconsistent",
                    fmt::format("{} ties \"{}\" to itself; name two different parameters",
                                here.path(), shortened(spec.tie[i][0])));
    }
}

}    // namespace

const Object<InitSpec>& init_table() {
    static const auto table =
        Object<InitSpec>("InitSpec",
                         "Pretrained weights to start from, instead of random initialisation.")
            .field("from", &InitSpec::from,
                   "Id of a checkpoint, or of an uploaded safetensors file. For slipway-executor "
                   "run: the path of either.",
                   Text{.max = 1000}, {.required = true})
            .field("strict", &InitSpec::strict,
                   "Reject missing, unexpected or mismatched weights; false: load the weights that "
                   "fit and log the others.",
                   Flag{});
    return table;
}

const Object<HeadSpec>& head_table() {
    static const auto table = Object<HeadSpec>("HeadSpec", "Last layer.")
                                  .field("replace", &HeadSpec::replace,
                                         "Initialise the last layer instead of loading it, for "
                                         "other classes than the weights were trained on.",
                                         Flag{});
    return table;
}

const Object<ModelSpec>& model_table() {
    static const auto table =
        Object<ModelSpec>("ModelSpec", "Model.")
            .variants("arch", architectures(), "",
                      [](const ModelSpec& spec) { return to_string(spec.arch); })
            .field("arch", &ModelSpec::arch, "Architecture.", Choice<Arch>{}, {.required = true})
            .field("num_classes", &ModelSpec::num_classes,
                   "Number of classes, at least 2; for multilabel and regression, number of "
                   "labels. Default: as in the dataset.",
                   Integer{.min = 1, .max = 100000}, {.only = not_of_text()})
            .field("width", &ModelSpec::width, "Features per hidden layer.",
                   Integer{.min = 1, .max = 65536}, {.only = {"mlp"}, .unless = "hidden"})
            .field("depth", &ModelSpec::depth, "Number of hidden layers.",
                   Integer{.min = 0, .max = 64}, {.only = {"mlp"}, .unless = "hidden"})
            .field("hidden", &ModelSpec::hidden,
                   "Features of each hidden layer, in order; replaces width and depth.",
                   List<Integer>{.item = {.min = 1, .max = 65536}, .max = 64}, {.only = {"mlp"}})
            .field("dropout", &ModelSpec::dropout, "Dropout probability, in training only.",
                   Number{.min = 0, .below = 1}, {.only = of_text()})
            .field("vocab_size", &ModelSpec::vocab_size,
                   "Vocabulary size in tokens. Default: that of the tokenizer.",
                   Integer{.min = 2, .max = 1 << 20}, {.only = of_text()})
            .field("max_length", &ModelSpec::max_length,
                   "Maximum sequence length in tokens. Default: 512 for BERT, 1024 for GPT.",
                   Integer{.min = 2, .max = 65536}, {.only = of_text()})
            .field("heads", &ModelSpec::heads,
                   "Number of attention heads; must divide the number of features. Default: as "
                   "published.",
                   Integer{.min = 1, .max = 1024}, {.only = with_attention()})
            .field("layers", &ModelSpec::layers, "Layers of the model, in order.",
                   List<Nested<LayerSpec>>{.item = {&layer_table()}, .min = 1, .max = 1000},
                   {.required = true, .only = {"layers"}})
            .field("from", &ModelSpec::from,
                   "Id of an upload of a network that torch.export has written (.pt2). For "
                   "slipway-executor run: its path.",
                   Text{.max = 1000}, {.required = true, .only = {"imported"}})
            .field("sync_batch_norm", &ModelSpec::sync_batch_norm,
                   "Synchronised batch norm: mean and variance over all cores instead of per core. "
                   "Costs two all-reduces in the forward pass and one in the backward pass.",
                   Flag{}, {.only = with_batch_norm()})
            .field("tie", &ModelSpec::tie,
                   "Pairs of parameter names that share one tensor; it is trained and stored once.",
                   List<Pair<Text>>{.item = {{.max = 300}}, .max = 1000, .unique = true},
                   {.absent_when_empty = true})
            .field("init", &ModelSpec::init,
                   "Pretrained weights to start from, instead of random initialisation.",
                   Nested<InitSpec>{&init_table()})
            .field("head", &ModelSpec::head, "Last layer.", Nested<HeadSpec>{&head_table()})
            .field("freeze", &ModelSpec::freeze,
                   "Name patterns of parameters that are not trained, such as layer1.*; * matches "
                   "any text.",
                   List<Text>{.item = {}, .max = 1000, .unique = true}, {.absent_when_empty = true})
            .rule([](const Json&, ModelSpec& spec, const Reader& at) {
                judge_layers(spec.layers, at.at("layers"));
                judge_ties(spec, at.at("tie"));
                judge_sync(spec, at.at("sync_batch_norm"));
                if (!spec.head.replace || spec.init) return;
                const Reader here = at.at("head").at("replace");
                here.report("inconsistent",
                            fmt::format("{} requires weights to replace the last layer of: set "
                                        "model.init.from, or leave it out",
                                        here.path()));
            });
    return table;
}

namespace {

const Object<SliceSpec>& slice_table() {
    static const auto table =
        Object<SliceSpec>("SliceSpec", "Whole hosts of 8 virtual cores each that train together.")
            .field("cores", &SliceSpec::cores,
                   "Total number of virtual cores on all hosts; at most as many as the known hosts "
                   "have.",
                   Integer{.min = 2 * host_cores, .max = 2048, .multiple_of = host_cores},
                   {.required = true})
            .field("gradient_exchange", &SliceSpec::gradient_exchange,
                   "Type in which gradients are sent between hosts. bf16: half the bytes; the "
                   "gradients of each host, and their sum, are rounded to bf16.",
                   Choice<GradientExchange>{});
    return table;
}

std::string_view variant_of(const AcceleratorSpec& spec) {
    if (spec.slice) return "slice";
    return spec.core_id ? "core_ids" : "cores";
}

/// The fields of a job on one host.
Object<AcceleratorSpec> one_host_fields(std::string_view name, std::string_view summary) {
    return Object<AcceleratorSpec>(name, summary)
        .field("cores", &AcceleratorSpec::cores,
               "Number of virtual cores of one host; gradients are summed over them.",
               IntegerChoice{{1, 8}}, {.only = {"cores"}})
        .field("core_ids", &AcceleratorSpec::core_id,
               "Run on exactly this core; the job waits for it.",
               Single<Integer>{{.min = 1, .max = 8}}, {.required = true, .only = {"core_ids"}});
}

}    // namespace

const Object<AcceleratorSpec>& accelerator_table() {
    static const auto table =
        one_host_fields(
            "AcceleratorSpec",
            "Cores to run on: a number of cores, one core by number, or a slice of whole hosts.")
            .variants("", {"cores", "core_ids", "slice"}, "cores", variant_of)
            .field("slice", &AcceleratorSpec::slice,
                   "Run on whole hosts; gradients are summed over the cores of all of them.",
                   Nested<SliceSpec>{&slice_table()}, {.required = true, .only = {"slice"}})
            .field("memory_bytes", &AcceleratorSpec::memory_bytes,
                   "Memory limit; for a slice, on each host. A program that needs more is rejected "
                   "before it runs.",
                   Integer{.min = 1 << 20})
            .rule([](const Json&, AcceleratorSpec& spec, const Reader&) {
                if (spec.slice) spec.cores = spec.slice->cores;
            });
    return table;
}

const Object<AcceleratorSpec>& one_host_accelerator_table() {
    static const auto table =
        one_host_fields("OneHostAcceleratorSpec",
                        "Cores of one host to run on: a number of cores, or one core by number.")
            .variants("", {"cores", "core_ids"}, "cores", variant_of)
            .field("memory_bytes", &AcceleratorSpec::memory_bytes,
                   "Memory limit: a program that needs more is rejected before it runs.",
                   Integer{.min = 1 << 20})
            .later({"slice"});
    return table;
}

}    // namespace slipway
