#include "executor/train/architectures/architecture.h"

#include "executor/nn/models/lenet.h"
#include "executor/train/train_error.h"

namespace slipway {

void build_lenet(Model& model, Init& init, const NetworkRequest& request) {
    const ImageShape image = image_of(request);
    try {
        model.forward = without_pass(LeNet::create(model.parameters, init,
                                                   {.channels = image.channels,
                                                    .height = image.height,
                                                    .width = image.width,
                                                    .classes = request.classes}));
    } catch (
        const Error& error) {    // the network's complaint about the images is the user's to fix
        throw TrainError("spec_error", error.what());
    }
}

}    // namespace slipway
