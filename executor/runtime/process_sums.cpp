// A network has hundreds of parameters, most of them small: biases, scales. Each all_reduce takes
// one or two round trips and as many changes of threads, however little it sends. What is small is
// copied side by side, sent as one and copied back; what is large is sent from where it lies, some
// megabytes after the others: a call takes memory for what it receives, and the gradient of a large
// vocabulary alone has a hundred. Shards are always large. Each element is combined by itself, so
// its bits are the same.
#include "executor/runtime/process_sums.h"

#include <algorithm>

#include "executor/runtime/bf16_sums.h"
#include "executor/runtime/sharded_update.h"

namespace slipway {

namespace {

constexpr std::size_t small_bytes_max = sharded_bytes_min - 1;

bool are_alike(const ProcessValues& a, const ProcessValues& b) {
    return a.how == b.how && a.dtype == b.dtype && a.transfer == b.transfer;
}

/// How many of them, from the first on, go as one.
std::size_t packed_count(std::span<const ProcessValues> sums) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (sums[0].transfer == Transfer::all_reduce && count < sums.size() &&
           are_alike(sums[count], sums[0]) && sums[count].values.size() <= small_bytes_max) {
        bytes += sums[count].values.size();
        if (bytes > std::size_t(packed_bytes_max)) break;
        ++count;
    }
    return count;
}

/// The same bytes of each shard at a time, so that no call sends more than sent_bytes_max.
void send_shards(Collectives& collectives, const ProcessValues& sent) {
    const auto size = std::int64_t(size_in_bytes(sent.dtype));
    const std::int64_t elements = std::int64_t(sent.values.size()) / size;
    const int count = collectives.count();
    const std::int64_t piece =
        std::max(sent_bytes_max / size / count / line_alignment * line_alignment, line_alignment);
    std::int64_t largest = 0;
    for (int rank = 0; rank < count; ++rank)
        largest = std::max(largest, shard_of(elements, rank, count).count());
    std::vector<std::span<std::byte>> shards;
    for (std::int64_t first = 0; first < largest; first += piece) {
        shards.clear();
        for (int rank = 0; rank < count; ++rank) {
            const ElementRange shard = shard_of(elements, rank, count);
            const std::int64_t begin = std::min(shard.begin + first, shard.end);
            const std::int64_t end = std::min(begin + piece, shard.end);
            shards.push_back(
                sent.values.subspan(std::size_t(begin * size), std::size_t((end - begin) * size)));
        }
        if (sent.transfer == Transfer::reduce_scatter)
            collectives.reduce_scatter(sent.how, sent.dtype, shards);
        else
            collectives.gather_shards(shards);
    }
}

void combine_large(Collectives& collectives, const ProcessValues& sum) {
    if (sum.transfer != Transfer::all_reduce) return send_shards(collectives, sum);
    std::span<std::byte> left = sum.values;
    while (!left.empty()) {
        const auto part = left.first(std::min(left.size(), std::size_t(sent_bytes_max)));
        collectives.all_reduce(sum.how, sum.dtype, part);
        left = left.subspan(part.size());
    }
}

/// What is sent of each.
std::vector<ProcessValues> narrowed(std::span<const ProcessValues> sums) {
    std::vector<ProcessValues> sent(sums.begin(), sums.end());
    for (ProcessValues& sum : sent) {
        if (sum.rounding != ProcessRounding::all) continue;
        sum.values = narrow_in_place(sum.values);
        sum.dtype = DType::bf16;
    }
    return sent;
}

void restore(const ProcessValues& sum) {
    if (sum.rounding == ProcessRounding::all) widen_in_place(sum.values);
    if (sum.rounding == ProcessRounding::result)
        round_to_bf16(sum.values.data(), 0, std::int64_t(sum.values.size() / sizeof(float)));
}

void combine_sent(Collectives& collectives, std::span<const ProcessValues> sums,
                  std::vector<std::byte>& packed) {
    while (!sums.empty()) {
        const std::size_t count = packed_count(sums);
        if (count < 2) {
            combine_large(collectives, sums[0]);
            sums = sums.subspan(1);
            continue;
        }
        const auto together = sums.first(count);
        packed.clear();
        for (const ProcessValues& sum : together)
            packed.insert(packed.end(), sum.values.begin(), sum.values.end());
        collectives.all_reduce(sums[0].how, sums[0].dtype, packed);
        auto from = packed.begin();
        for (const ProcessValues& sum : together) {
            const auto end = from + std::ptrdiff_t(sum.values.size());
            std::copy(from, end, sum.values.begin());
            from = end;
        }
        sums = sums.subspan(count);
    }
}

}    // namespace

void combine_processes(Collectives& collectives, std::span<const ProcessValues> sums,
                       std::vector<std::byte>& packed) {
    combine_sent(collectives, narrowed(sums), packed);
    for (const ProcessValues& sum : sums)
        restore(sum);
}

}    // namespace slipway
