#include "executor/train/model.h"

#include <fmt/format.h>

#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mlp.h"
#include "executor/train/run.h"

namespace slipway {

namespace {

std::int64_t product(const Dims& dims) {
    return Shape{DType::f32, dims}.element_count();
}

void build_mlp(Model& model, Init& init, const ModelSpec& spec, const Dims& sample_dims,
               std::int64_t classes) {
    const auto hidden = spec.hidden.value_or(
        std::vector<std::int64_t>(static_cast<std::size_t>(spec.depth), spec.width));
    model.forward = Mlp::create(model.parameters, init, product(sample_dims), hidden, classes);
}

void build_lenet(Model& model, Init& init, const Dims& sample_dims, std::int64_t classes) {
    if (sample_dims.size() != 3) {
        throw TrainError("spec_error",
                         "lenet needs images, and this data set is a table; use model.arch mlp");
    }
    try {
        model.forward = LeNet::create(model.parameters, init,
                                      {.channels = sample_dims[0],
                                       .height = sample_dims[1],
                                       .width = sample_dims[2],
                                       .classes = classes});
    } catch (
        const Error& error) {    // the network's complaint about the images is the user's to mend
        throw TrainError("spec_error", error.what());
    }
}

}    // namespace

Model build_model(const JobSpec& spec, const Dims& sample_dims, std::int64_t classes) {
    const std::int64_t outputs = spec.model.num_classes.value_or(classes);
    if (outputs < classes) {
        throw TrainError("spec_error",
                         fmt::format("model.num_classes is {}, and the data set has {} classes; "
                                     "leave it out or set it to {} or more",
                                     outputs, classes, classes));
    }
    Model model;
    Init init(std::uint64_t(spec.train.seed));
    switch (spec.model.arch) {
        case Arch::mlp:
            build_mlp(model, init, spec.model, sample_dims, outputs);
            break;
        case Arch::lenet:
            build_lenet(model, init, sample_dims, outputs);
            break;
    }
    return model;
}

}    // namespace slipway
