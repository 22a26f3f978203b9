#pragma once

#include "executor/train/train_data.h"

namespace slipway {

/// Inputs the images that cannot be decoded whole out of data.split, and says which in
/// data.skipped. Every image of the split is decoded for that, but of a job that goes on from a
/// checkpoint: each checkpoint keeps the list (damaged_images.json, in data.files).
/// errors  DataError when a part has no whole image
void leave_damaged_out(const AttemptPlan& plan, TrainData& data);

}    // namespace slipway
