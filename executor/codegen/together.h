#pragma once

#include <cstdint>
#include <optional>

#include "executor/codegen/filtered_convolution.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

/// Whether the images of one replica, read and written, are at most an eighth more bytes than the
/// weights, which one kernel for the images of several replicas reads once. They have to lie in a
/// row.
/// spec  of one replica, of the kind forward or backward_data
bool pays_together(const ConvolutionSpec& spec);

/// Whether that pays even where replicas that run together take more memory: the images are fewer
/// bytes than the weights.
bool is_worth_memory(const ConvolutionSpec& spec);

/// alone     computes one replica
/// replicas  how many there are, at least 2; their images lie one after the other
/// limits    by which `alone` is filtered, if it is
/// returns a kernel for all of them whose bits are those of `alone` for each; nothing where the
///         library multiplies so many images in another way
std::optional<LibraryKernel> make_together(const ConvolutionSpec& spec, const LibraryKernel& alone,
                                           const FilteringLimits& limits, int replicas,
                                           int workers);

/// Whether a replica has so few rows that one product with those of several replicas, which reads
/// the right matrix once, is faster. What does not lie in a row is copied if it is little; single
/// rows lie a replica's step apart.
bool pays_together(const MatmulSpec& spec);

/// The same for products of rows with a matrix that all replicas share, which is not packed. Where
/// the library multiplies so many rows in another way, half as many replicas at a time, or fewer.
std::optional<LibraryKernel> make_together(const MatmulSpec& spec, const LibraryKernel& alone,
                                           int replicas, int workers);

}    // namespace slipway
