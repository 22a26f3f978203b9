#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/store/metrics/bucket.h"

// Successive samples of one metric as bytes.
namespace slipway::store {

/// Samples of a full chunk. The chunks of a metric are aligned: number n begins with its sample
/// n * chunk_samples, so that any power of two up to there divides them.
inline constexpr std::int64_t chunk_samples = 512;
/// Full chunks whose summaries are kept together.
inline constexpr std::int64_t rollup_chunks = 512;

/// About 4 or 8 bytes a sample (values that a float32 holds take 4), if steps are evenly spaced and
/// many came at once. Times are rounded down to milliseconds.
std::string encode_samples(std::span<const MetricSample> samples);
/// errors  data_loss: not what encode_samples wrote
std::vector<MetricSample> decode_samples(std::string_view bytes);

inline constexpr std::size_t summary_bytes = 68;
/// The bucket of a whole chunk, in summary_bytes.
std::string encode_summary(const MetricBucket& bucket);
/// errors  data_loss: not a multiple of summary_bytes
std::vector<MetricBucket> decode_summaries(std::string_view bytes);

}    // namespace slipway::store
