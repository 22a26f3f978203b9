#include "executor/train/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/nn/declared/network.h"
#include "executor/nn/models/bert.h"
#include "executor/nn/models/gpt2.h"
#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mixer.h"
#include "executor/nn/models/mlp.h"
#include "executor/nn/models/resnet.h"
#include "executor/nn/models/vit.h"
#include "executor/train/ties.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

/// What a network is built for.
struct Request {
    const JobSpec& spec;
    const Dims& sample_dims;
    std::int64_t classes;
    const SampleDetails& details;

    std::string_view arch() const { return to_string(spec.model.arch); }
};

struct ImageShape {
    std::int64_t channels, height, width;
};

ImageShape image_of(const Request& request) {
    const Dims& dims = request.sample_dims;
    if (dims.size() == 3) return {dims[0], dims[1], dims[2]};
    throw TrainError(
        "spec_error",
        fmt::format("{} needs images, and this data set is a table; use model.arch mlp",
                    request.arch()));
}

/// The side of a square image that can be cut into patches of this size.
std::int64_t side_in_patches(const Request& request, std::int64_t patch_size) {
    const ImageShape image = image_of(request);
    if (image.height == image.width && image.width % patch_size == 0) return image.width;
    const std::int64_t longer = std::max(image.height, image.width);
    throw TrainError(
        "spec_error",
        fmt::format("{} cuts square images into patches of {} x {} pixels, got images of {} x {}; "
                    "set data.image_size to a multiple of {}, for instance {}",
                    request.arch(), patch_size, patch_size, image.height, image.width, patch_size,
                    (longer + patch_size - 1) / patch_size * patch_size));
}

void build_mlp(Model& model, Init& init, const Request& request) {
    const ModelSpec& spec = request.spec.model;
    const std::int64_t features = Shape{DType::f32, request.sample_dims}.element_count();
    const auto hidden =
        spec.hidden.value_or(std::vector<std::int64_t>(std::size_t(spec.depth), spec.width));
    model.forward =
        without_pass(Mlp::create(model.parameters, init, features, hidden, request.classes));
}

void build_lenet(Model& model, Init& init, const Request& request) {
    const ImageShape image = image_of(request);
    try {
        model.forward = without_pass(LeNet::create(model.parameters, init,
                                                   {.channels = image.channels,
                                                    .height = image.height,
                                                    .width = image.width,
                                                    .classes = request.classes}));
    } catch (
        const Error& error) {    // the network's complaint about the images is the user's to mend
        throw TrainError("spec_error", error.what());
    }
}

/// A variance needs two values; a residual network's last norm has a 32nd of the image's sides.
/// Samples that a batch norm sees at once.
std::int64_t normalized_together(const JobSpec& spec) {
    const std::int64_t cores = spec.model.sync_batch_norm ? spec.accelerator.cores : 1;
    return spec.train.batch_size_per_core * cores;
}

void require_variance(const Request& request, const ImageShape& image) {
    constexpr std::int64_t reduction = 32;
    const auto reduced = [](std::int64_t side) { return (side + reduction - 1) / reduction; };
    const std::int64_t samples = normalized_together(request.spec);
    if (samples * reduced(image.height) * reduced(image.width) > 1) return;
    throw TrainError("spec_error",
                     fmt::format("batch norm needs more than one value per channel, and the last "
                                 "one of {} has a single one with train.batch_size_per_core 1 and "
                                 "images of {} x {}; set train.batch_size_per_core to 2 or more",
                                 request.arch(), image.height, image.width));
}

template <std::int64_t... blocks>
void build_resnet(Model& model, Init& init, const Request& request) {
    const ImageShape image = image_of(request);
    require_variance(request, image);
    model.forward = ResNet::create(model.parameters, init,
                                   {.blocks = {blocks...},
                                    .bottleneck = request.spec.model.arch == Arch::resnet50,
                                    .channels = image.channels,
                                    .classes = request.classes,
                                    .sync_norms = request.spec.model.sync_batch_norm});
}

/// The heads of an attention over `features`.
std::int64_t heads_of(const Request& request, std::int64_t features, std::int64_t published) {
    const std::int64_t heads = request.spec.model.heads.value_or(published);
    if (features % heads == 0) return heads;
    throw TrainError("spec_error", fmt::format("model.heads must divide the {} features of {}, "
                                               "got {}; published are {}",
                                               features, request.arch(), heads, published));
}

constexpr std::int64_t patch_size = 16;

template <std::int64_t hidden, std::int64_t heads>
void build_vit(Model& model, Init& init, const Request& request) {
    model.forward = Vit::create(model.parameters, init,
                                {.image_size = side_in_patches(request, patch_size),
                                 .patch_size = patch_size,
                                 .layers = 12,
                                 .hidden = hidden,
                                 .heads = heads_of(request, hidden, heads),
                                 .channels = request.sample_dims[0],
                                 .classes = request.classes});
}

template <std::int64_t layers, std::int64_t hidden>
void build_mixer(Model& model, Init& init, const Request& request) {
    model.forward = without_pass(Mixer::create(model.parameters, init,
                                               {.image_size = side_in_patches(request, patch_size),
                                                .patch_size = patch_size,
                                                .layers = layers,
                                                .hidden = hidden,
                                                .token_width = hidden / 2,
                                                .channel_width = 4 * hidden,
                                                .channels = request.sample_dims[0],
                                                .classes = request.classes}));
}

/// How many tokens a sample has, and how many positions the network is to have for them.
std::int64_t positions_of(const Request& request, std::int64_t published) {
    check(request.sample_dims.size() == 1, "a sample of a language model is a row of tokens");
    const std::int64_t positions = request.spec.model.max_length.value_or(published);
    if (request.sample_dims[0] <= positions) return positions;
    throw TrainError(
        "spec_error",
        fmt::format("{} has {} positions and samples have {} tokens; set "
                    "data.max_length to at most {}, or model.max_length to at least {}",
                    request.arch(), positions, request.sample_dims[0], positions,
                    request.sample_dims[0]));
}

template <std::int64_t layers, std::int64_t hidden, std::int64_t heads>
void build_bert(Model& model, Init& init, const Request& request) {
    const Bert network = Bert::create(model.parameters, init,
                                      {.layers = layers,
                                       .hidden = hidden,
                                       .heads = heads_of(request, hidden, heads),
                                       .vocabulary = request.classes,
                                       .intermediate = 4 * hidden,
                                       .positions = positions_of(request, 512),
                                       .padding = request.details.padding});
    model.head = "cls";
    model.base = "bert";
    model.dropout = request.spec.model.dropout;
    model.forward = [network](const Tensor& tokens, ForwardPass& pass) {
        const Tensor everywhere = iota({DType::i32, tokens.dims()}, 1);
        return network.predict(network.encode(tokens, pass),
                               pass.positions.empty() ? everywhere : pass.positions);
    };
}

template <std::int64_t layers, std::int64_t hidden, std::int64_t heads>
void build_gpt2(Model& model, Init& init, const Request& request) {
    if (request.spec.model.head.replace)
        throw TrainError("spec_error",
                         fmt::format("{} has no head to replace: its output weights are those of "
                                     "its token embeddings; leave model.head out",
                                     request.arch()));
    model.base = "transformer";
    model.dropout = request.spec.model.dropout;
    model.forward = Gpt2::create(model.parameters, init,
                                 {.layers = layers,
                                  .hidden = hidden,
                                  .heads = heads_of(request, hidden, heads),
                                  .vocabulary = request.classes,
                                  .positions = positions_of(request, 1024)});
}

void build_declared(Model& model, Init& init, const Request& request) {
    try {
        const DeclaredNetwork network =
            DeclaredNetwork::create(model.parameters, init, request.spec.model.layers,
                                    {.sample_dims = request.sample_dims,
                                     .outputs = request.classes,
                                     .batch_size = normalized_together(request.spec),
                                     .sync_norms = request.spec.model.sync_batch_norm,
                                     .column_names = request.details.column_names});
        model.dropout = network.dropout;
        model.forward = network;
    } catch (const Error& error) {    // layers that do not fit are the user's to mend
        if (error.code() != ErrorCode::invalid_argument) throw;
        throw TrainError("spec_error", error.what());
    }
}

struct Builder {
    Arch arch;
    void (*build)(Model& model, Init& init, const Request& request);
};

constexpr std::array builders{
    Builder{Arch::mlp, build_mlp},
    Builder{Arch::lenet, build_lenet},
    Builder{Arch::resnet18, build_resnet<2, 2, 2, 2>},
    Builder{Arch::resnet34, build_resnet<3, 4, 6, 3>},
    Builder{Arch::resnet50, build_resnet<3, 4, 6, 3>},
    Builder{Arch::vit_tiny, build_vit<192, 3>},
    Builder{Arch::vit_small, build_vit<384, 6>},
    Builder{Arch::vit_base, build_vit<768, 12>},
    Builder{Arch::mixer_s16, build_mixer<8, 512>},
    Builder{Arch::mixer_b16, build_mixer<12, 768>},
    Builder{Arch::bert_tiny, build_bert<2, 128, 2>},
    Builder{Arch::bert_small, build_bert<4, 512, 8>},
    Builder{Arch::bert_base, build_bert<12, 768, 12>},
    Builder{Arch::bert_large, build_bert<24, 1024, 16>},
    Builder{Arch::gpt_tiny, build_gpt2<4, 128, 4>},
    Builder{Arch::gpt2, build_gpt2<12, 768, 12>},
    Builder{Arch::layers, build_declared},
};
static_assert(builders.size() == all_words<Arch>().size());

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
        return {"model.num_classes", "the data set has {} classes", true};
    return {"model.num_classes", "the data set has {} labels", false};
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
                  const SampleDetails& details) {
    Model model;
    prepare_ties(model.parameters, spec.model);
    const auto builder = std::ranges::find(builders, spec.model.arch, &Builder::arch);
    check(builder != builders.end(), "every architecture of the job spec has a builder");
    builder->build(model, init, {spec, sample_dims, output_count(spec, labels), details});
    if (model.parameters.names().empty())
        throw TrainError("spec_error", "the network has no parameters, so nothing can be trained");
    if (!language_task(spec.model.arch)) model.head = last_layer(model.parameters);
    require_ties(model, spec.model);
    return model;
}

}    // namespace slipway
