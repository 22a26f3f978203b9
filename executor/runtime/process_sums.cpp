// A network has hundreds of parameters, most of them small: biases, scales. Each all_reduce takes
// one or two round trips and as many changes of threads, however little it sends. What is small is
// copied side by side, sent as one and copied back; what is large is sent from where it lies, some
// megabytes after the others: a call takes memory for what it receives, and the gradient of a large
// vocabulary alone has a hundred. Each element is combined by itself, so its bits are the same.
#include "executor/runtime/process_sums.h"

#include <algorithm>

#include "executor/runtime/bf16_sums.h"

namespace slipway {

namespace {

constexpr std::size_t small_bytes_max = std::size_t{256} << 10;

bool are_alike(const ProcessSum& a, const ProcessSum& b) {
    return a.how == b.how && a.dtype == b.dtype;
}

/// How many of them, from the first on, go as one.
std::size_t packed_count(std::span<const ProcessSum> sums) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (count < sums.size() && are_alike(sums[count], sums[0]) &&
           sums[count].values.size() <= small_bytes_max) {
        bytes += sums[count].values.size();
        if (bytes > std::size_t(packed_bytes_max)) break;
        ++count;
    }
    return count;
}

void combine_large(Collectives& collectives, const ProcessSum& sum) {
    std::span<std::byte> left = sum.values;
    while (!left.empty()) {
        const auto part = left.first(std::min(left.size(), std::size_t(sent_bytes_max)));
        collectives.all_reduce(sum.how, sum.dtype, part);
        left = left.subspan(part.size());
    }
}

/// What is sent of each.
std::vector<ProcessSum> narrowed(std::span<const ProcessSum> sums) {
    std::vector<ProcessSum> sent(sums.begin(), sums.end());
    for (ProcessSum& sum : sent) {
        if (sum.rounding != ProcessRounding::all) continue;
        sum.values = narrow_in_place(sum.values);
        sum.dtype = DType::bf16;
    }
    return sent;
}

void restore(const ProcessSum& sum) {
    if (sum.rounding == ProcessRounding::all) widen_in_place(sum.values);
    if (sum.rounding == ProcessRounding::result)
        round_to_bf16(sum.values.data(), 0, std::int64_t(sum.values.size() / sizeof(float)));
}

void combine_sent(Collectives& collectives, std::span<const ProcessSum> sums,
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
        for (const ProcessSum& sum : together)
            packed.insert(packed.end(), sum.values.begin(), sum.values.end());
        collectives.all_reduce(sums[0].how, sums[0].dtype, packed);
        auto from = packed.begin();
        for (const ProcessSum& sum : together) {
            const auto end = from + std::ptrdiff_t(sum.values.size());
            std::copy(from, end, sum.values.begin());
            from = end;
        }
        sums = sums.subspan(count);
    }
}

}    // namespace

void combine_processes(Collectives& collectives, std::span<const ProcessSum> sums,
                       std::vector<std::byte>& packed) {
    combine_sent(collectives, narrowed(sums), packed);
    for (const ProcessSum& sum : sums)
        restore(sum);
}

}    // namespace slipway
