#include "executor/train/model.h"

#include <fmt/format.h>

#include <array>

#include "executor/train/architectures/architecture.h"
#include "executor/train/ties.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

using BuildNetwork = void (*)(Model&, Init&, const NetworkRequest&);

/// In the order of Arch.
constexpr auto builders = std::to_array<BuildNetwork>({
#define ARCHITECTURE(name, ...) build_##name,
#include "api/spec/architectures.def"
#undef ARCHITECTURE
});

/// What a network's outputs are for, in words of the spec and of the data.
struct OutputNames {
    std::string_view field;
    std::string_view of;
    bool may_be_more;    ///< nobody says a class or token that the data does not have
};

OutputNames output_names(const JobSpec& spec) {
    if (language_task(spec.model.arch))
        return {"model.vocab_size", "the tokenizer has {} tokens", true};
    if (spec.task.type == TaskType::classification)
        return {"model.num_classes", "the dataset has {} classes", true};
    return {"model.num_classes", "the dataset has {} labels", false};
}

/// As many as the data has, unless the job wants more.
std::int64_t output_count(const JobSpec& spec, std::int64_t labels) {
    const bool is_language = language_task(spec.model.arch).has_value();
    const auto wanted = is_language ? spec.model.vocab_size : spec.model.num_classes;
    const std::int64_t outputs = wanted.value_or(labels);
    const OutputNames names = output_names(spec);
    if (names.may_be_more ? outputs >= labels : outputs == labels) return outputs;
    throw TrainError("spec_error",
                     fmt::format("{} is {}, and {}; leave it out or set it to {}{}", names.field,
                                 outputs, fmt::format(fmt::runtime(names.of), labels), labels,
                                 names.may_be_more ? " or more" : ""));
}

/// The layer of the last parameter: "fc" of "fc.weight".
std::string last_layer(const ParameterList& parameters) {
    const std::string& last = parameters.names().back();
    return last.substr(0, last.rfind('.'));
}

}    // namespace

Model build_model(const JobSpec& spec, const Dims& sample_dims, std::int64_t labels, Init init,
                  const SampleDetails& details, const NetworkSource& source) {
    Model model;
    prepare_ties(model.parameters, spec.model);
    builders[std::size_t(spec.model.arch)](
        model, init, {spec, sample_dims, output_count(spec, labels), details, source});
    if (model.parameters.names().empty())
        throw TrainError("spec_error", "the network has no parameters, so nothing can be trained");
    if (!language_task(spec.model.arch) && spec.model.arch != Arch::imported)
        model.head = last_layer(model.parameters);
    require_ties(model, spec.model);
    return model;
}

}    // namespace slipway
