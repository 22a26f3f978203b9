#pragma once

#include <cstdint>
#include <functional>

namespace slipway {

/// Bytes that a step with so many samples per core needs at its peak.
using PeakOfBatch = std::function<std::int64_t(std::int64_t batch)>;

/// The largest batch below `asked` whose peak is at most `bytes_max`; 0 when not even one sample
/// fits. `asked` does not fit. The peak grows with the batch. A batch that divides by 8 is looked
/// for first when `asked` does: it keeps the kernels and the order of sums (train/settings.h).
/// Plans few batches: the peak is close to a line, so the next guess is where that line says.
std::int64_t largest_fitting_batch(std::int64_t asked, std::int64_t bytes_max,
                                   const PeakOfBatch& peak);

}    // namespace slipway
