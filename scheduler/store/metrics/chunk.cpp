// Samples are kept by column, as time-series databases do: all steps, then all epochs, attempts,
// times, values. What grows evenly (steps, epochs) or repeats (attempts, the time of a batch) is
// kept as runs of equal differences, each a difference and a length in variable-length integers: a
// column of an evenly logged curve is two runs. Values follow as they are, in 4 bytes each when
// every one of them is a float32. XOR of neighbouring values, as in Facebook's Gorilla, was not
// taken: the lower bits of a loss are noise, and it would gain a byte or two of eight.
//
//   byte    encoding: 1 (0: of builds that had rows of points: 36 bytes a sample)
//   varint  samples
//   runs    steps, epochs, attempts, times in milliseconds; of each as many as there are samples
//   byte    bytes of a value: 4 or 8
//   values
//
// Numbers of fixed size are big-endian: PostgreSQL writes them so, which take_over.sql uses.
#include "scheduler/store/metrics/chunk.h"

#include <bit>
#include <cmath>
#include <limits>

#include "api/base/error.h"

namespace slipway::store {

namespace {

constexpr std::uint8_t rows_encoding = 0;
constexpr std::uint8_t columns_encoding = 1;

class ByteWriter {
public:
    template <class Unsigned>
    void fixed(Unsigned number) {
        for (int shift = int(sizeof number) * 8 - 8; shift >= 0; shift -= 8)
            bytes_ += char(std::uint8_t(number >> shift));
    }
    void fixed(double number) { fixed(std::bit_cast<std::uint64_t>(number)); }
    void fixed(float number) { fixed(std::bit_cast<std::uint32_t>(number)); }

    void varint(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7)
            bytes_ += char(std::uint8_t(number) | 0x80);
        bytes_ += char(number);
    }

    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    template <class Unsigned>
    Unsigned fixed() {
        Unsigned number = 0;
        for (std::size_t i = 0; i < sizeof number; ++i)
            number = Unsigned(Unsigned(number << 7 << 1) | byte());
        return number;
    }
    double fixed_double() { return std::bit_cast<double>(fixed<std::uint64_t>()); }
    float fixed_float() { return std::bit_cast<float>(fixed<std::uint32_t>()); }
    std::int64_t fixed_integer() { return std::int64_t(fixed<std::uint64_t>()); }

    std::uint64_t varint() {
        std::uint64_t number = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const std::uint8_t next = byte();
            number |= std::uint64_t(next & 0x7f) << shift;
            if (next < 0x80) return number;
        }
        fail();
    }

    std::size_t left() const { return bytes_.size(); }
    void expect(bool holds) const {
        if (!holds) fail();
    }

private:
    std::uint8_t byte() {
        if (bytes_.empty()) fail();
        const auto next = std::uint8_t(bytes_.front());
        bytes_.remove_prefix(1);
        return next;
    }
    [[noreturn]] static void fail() {
        throw Error(ErrorCode::data_loss, "the points of a metric cannot be read");
    }

    std::string_view bytes_;
};

// Differences wrap around: steps may be any integers.
std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (0 - (difference >> 63));
}
std::uint64_t from_zigzag(std::uint64_t number) {
    return (number >> 1) ^ (0 - (number & 1));
}

std::int64_t time_of(const MetricSample& sample) {
    return sample.time.time_since_epoch().count();
}

// A point that comes alone has a run of its own: microseconds would take a byte more.
std::int64_t milliseconds_of(const MetricSample& sample) {
    return std::chrono::floor<std::chrono::milliseconds>(sample.time).time_since_epoch().count();
}

template <class Get>
void write_runs(ByteWriter& out, std::span<const MetricSample> samples, const Get& get) {
    std::uint64_t before = 0;
    std::uint64_t difference = 0;
    std::uint64_t length = 0;
    const auto end_run = [&] {
        if (length == 0) return;
        out.varint(zigzag(difference));
        out.varint(length);
    };
    for (const MetricSample& sample : samples) {
        const auto number = std::uint64_t(get(sample));
        if (number - before != difference) {
            end_run();
            difference = number - before;
            length = 0;
        }
        ++length;
        before = number;
    }
    end_run();
}

template <class Set>
void read_runs(ByteReader& in, std::vector<MetricSample>& samples, const Set& set) {
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < samples.size();) {
        const std::uint64_t difference = from_zigzag(in.varint());
        const std::uint64_t length = in.varint();
        in.expect(length > 0 && length <= samples.size() - at);
        for (const std::size_t end = at + length; at < end; ++at) {
            number += difference;
            set(samples[at], std::int64_t(number));
        }
    }
}

bool is_float(double value) {
    if (!std::isfinite(value)) return true;
    return std::abs(value) <= std::numeric_limits<float>::max() && double(float(value)) == value;
}

std::vector<MetricSample> read_rows(ByteReader& in) {
    std::vector<MetricSample> samples(in.left() / 36);
    for (MetricSample& sample : samples) {
        sample.step = in.fixed_integer();
        sample.epoch = in.fixed_integer();
        sample.value = in.fixed_double();
        sample.attempt = int(in.fixed<std::uint32_t>());
        sample.time = Instant(std::chrono::microseconds(in.fixed_integer()));
    }
    return samples;
}

std::vector<MetricSample> read_columns(ByteReader& in) {
    const std::uint64_t count = in.varint();
    in.expect(count <= in.left() / 4);
    std::vector<MetricSample> samples(count);
    read_runs(in, samples, [](MetricSample& sample, std::int64_t step) { sample.step = step; });
    read_runs(in, samples, [](MetricSample& sample, std::int64_t epoch) { sample.epoch = epoch; });
    read_runs(in, samples,
              [](MetricSample& sample, std::int64_t attempt) { sample.attempt = int(attempt); });
    read_runs(in, samples, [](MetricSample& sample, std::int64_t time) {
        sample.time = Instant(std::chrono::milliseconds(time));
    });
    const auto value_bytes = in.fixed<std::uint8_t>();
    in.expect(value_bytes == 4 || value_bytes == 8);
    for (MetricSample& sample : samples)
        sample.value = value_bytes == 4 ? double(in.fixed_float()) : in.fixed_double();
    return samples;
}

}    // namespace

std::string encode_samples(std::span<const MetricSample> samples) {
    ByteWriter out;
    out.fixed(columns_encoding);
    out.varint(samples.size());
    write_runs(out, samples, [](const MetricSample& sample) { return sample.step; });
    write_runs(out, samples, [](const MetricSample& sample) { return sample.epoch; });
    write_runs(out, samples, [](const MetricSample& sample) { return sample.attempt; });
    write_runs(out, samples, milliseconds_of);
    bool floats = true;
    for (const MetricSample& sample : samples)
        floats = floats && is_float(sample.value);
    out.fixed(std::uint8_t(floats ? 4 : 8));
    for (const MetricSample& sample : samples) {
        if (floats) out.fixed(float(sample.value));
        if (!floats) out.fixed(sample.value);
    }
    return out.take();
}

std::vector<MetricSample> decode_samples(std::string_view bytes) {
    ByteReader in(bytes);
    const auto encoding = in.fixed<std::uint8_t>();
    in.expect(encoding == columns_encoding || encoding == rows_encoding);
    std::vector<MetricSample> samples =
        encoding == columns_encoding ? read_columns(in) : read_rows(in);
    in.expect(in.left() == 0 && !samples.empty());
    return samples;
}

std::string encode_summary(const MetricBucket& bucket) {
    ByteWriter out;
    out.fixed(std::uint64_t(bucket.last.step));
    out.fixed(std::uint64_t(bucket.last.epoch));
    out.fixed(bucket.last.value);
    out.fixed(std::uint32_t(bucket.last.attempt));
    out.fixed(std::uint64_t(time_of(bucket.last)));
    out.fixed(bucket.min);
    out.fixed(bucket.max);
    out.fixed(bucket.mean);
    out.fixed(std::uint32_t(bucket.count));
    out.fixed(std::uint32_t(bucket.nonfinite));
    return out.take();
}

std::vector<MetricBucket> decode_summaries(std::string_view bytes) {
    ByteReader in(bytes);
    in.expect(bytes.size() % summary_bytes == 0);
    std::vector<MetricBucket> buckets(bytes.size() / summary_bytes);
    for (MetricBucket& bucket : buckets) {
        bucket.last.step = in.fixed_integer();
        bucket.last.epoch = in.fixed_integer();
        bucket.last.value = in.fixed_double();
        bucket.last.attempt = int(in.fixed<std::uint32_t>());
        bucket.last.time = Instant(std::chrono::microseconds(in.fixed_integer()));
        bucket.min = in.fixed_double();
        bucket.max = in.fixed_double();
        bucket.mean = in.fixed_double();
        bucket.count = in.fixed<std::uint32_t>();
        bucket.nonfinite = in.fixed<std::uint32_t>();
    }
    return buckets;
}

}    // namespace slipway::store
