#pragma once

#include <cstdint>
#include <optional>

#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway {

class Lowering;

/// Whether the images of one replica, read and written, are fewer bytes than the weights, which
/// one kernel for the images of several replicas reads once. They have to lie in a row.
/// spec  of one replica, of the kind forward or backward_data
bool pays_together(const ConvolutionSpec& spec);

/// alone     computes one replica
/// replicas  how many there are, at least 2; their images lie one after the other
/// returns a kernel for all of them whose bits are those of `alone` for each; nothing where the
///         library multiplies so many images in another way
std::optional<LibraryKernel> make_together(const ConvolutionSpec& spec, const LibraryKernel& alone,
                                           int replicas, int workers);

}    // namespace slipway
