// A bucket is a power of two of points, and the chunks begin at multiples of 512, so that a bucket
// of 512 points or more is a sum of summaries: the points themselves are read at the ends of the
// range and where the last chunk is not full. Smaller buckets are added up from the points; there
// are then at most 512 times as many points as buckets.
//
// Most curves are short, and their points cost less than finding out how many there are: so the
// first chunks are read first, and where they are all of them, nothing else is asked. A long curve
// is measured, then read in pages, each after the last step of the one before: chunks may be
// written again meanwhile, and a step has its place however they are cut.
#include "scheduler/store/metrics/curve.h"

#include <bit>

#include "scheduler/store/metrics/chunk.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

constexpr std::int64_t chunks_at_once = 64;
constexpr std::int64_t summaries_at_once = 512;

/// The smallest power of two of points that puts those from `first` to before `end` into so many.
int bucket_shift(std::int64_t first, std::int64_t end, std::int64_t buckets_max) {
    int shift = 0;
    while (((end - 1) >> shift) - (first >> shift) + 1 > buckets_max)
        ++shift;
    return shift;
}

/// Adds up what comes in the order of points.
class Buckets {
public:
    explicit Buckets(int shift) : shift_(shift) {}

    /// `bucket`: the points from number `point` on, all of one bucket.
    void add(std::int64_t point, const MetricBucket& bucket) {
        const std::int64_t number = point >> shift_;
        if (buckets_.empty() || number != last_number_) buckets_.emplace_back();
        last_number_ = number;
        add_later(buckets_.back(), bucket);
    }

    std::vector<MetricBucket> take() { return std::move(buckets_); }

private:
    int shift_;
    std::int64_t last_number_ = 0;
    std::vector<MetricBucket> buckets_;
};

class CurveReader {
public:
    CurveReader(Store& store, std::string_view job_id, std::string_view name,
                const StepRange& range)
        : store_(store), job_id_(job_id), name_(name), range_(range) {}

    Curve read_curve(const CurveSize& size) {
        const Rows rows = list_chunks(range_, chunks_at_once, true);
        if (rows.size() < chunks_at_once) return add_up(rows, size);
        const Rows measured = read(store_.pool(), queries::measure_curve,
                                   {job_id_, name_, range_.first, range_.last});
        const Row extent = measured[0];
        if (extent.is_null("first_point")) return {};
        const std::int64_t first = extent.integer("first_point");
        const std::int64_t end = extent.integer("points_end");
        const bool whole = end - first <= size.points_max;
        const int shift = whole ? 0 : bucket_shift(first, end, size.buckets_max);
        Buckets buckets(shift);
        if ((std::int64_t{1} << shift) < chunk_samples) {
            add_chunks(range_, chunks_at_once, true, buckets);
        } else {
            add_summaries(buckets);
        }
        return {buckets.take(), !whole};
    }

private:
    struct NumberedSample {
        std::int64_t number;
        MetricSample sample;
    };

    Rows list_chunks(const StepRange& range, std::int64_t limit, bool points) const {
        return read(store_.pool(), queries::list_chunks,
                    {job_id_, name_, range.first, range.last, limit, points});
    }

    /// Of a row with data: its points in the range.
    std::vector<NumberedSample> samples_of(const Row& row, const StepRange& range) const {
        std::vector<NumberedSample> samples;
        std::int64_t number = row.integer("first_point");
        for (const MetricSample& sample : decode_samples(row.bytes("data"))) {
            if (sample.step >= range.first && sample.step <= range.last)
                samples.push_back({number, sample});
            ++number;
        }
        return samples;
    }

    /// All of a short curve.
    Curve add_up(const Rows& rows, const CurveSize& size) const {
        std::vector<NumberedSample> samples;
        for (const Row row : rows)
            for (const NumberedSample& each : samples_of(row, range_))
                samples.push_back(each);
        if (samples.empty()) return {};
        const bool whole = std::ssize(samples) <= size.points_max;
        Buckets buckets(whole ? 0
                              : bucket_shift(samples.front().number, samples.back().number + 1,
                                             size.buckets_max));
        for (const NumberedSample& each : samples)
            buckets.add(each.number, to_bucket(each.sample));
        return {buckets.take(), !whole};
    }

    void add_chunks(StepRange range, std::int64_t at_once, bool points, Buckets& buckets) const {
        for (std::int64_t found = at_once; found == at_once;) {
            const Rows rows = list_chunks(range, at_once, points);
            found = rows.size();
            for (const Row row : rows) {
                if (row.is_null("data")) {
                    buckets.add(row.integer("first_point"),
                                decode_summaries(row.bytes("summary")).at(0));
                } else {
                    for (const NumberedSample& each : samples_of(row, range))
                        buckets.add(each.number, to_bucket(each.sample));
                }
                const std::int64_t last = row.integer("step_last");
                if (last >= range.last) return;
                range.first = last + 1;
            }
        }
    }

    void add_summaries(Buckets& buckets) const {
        StepRange rest = range_;
        for (const Row rollup : read(store_.pool(), queries::list_rollups,
                                     {job_id_, name_, range_.first, range_.last})) {
            if (rollup.integer("step_first") > rest.first)
                add_chunks({rest.first, rollup.integer("step_first") - 1}, summaries_at_once, false,
                           buckets);
            std::int64_t point = rollup.integer("first_point");
            for (const MetricBucket& summary : decode_summaries(rollup.bytes("data"))) {
                buckets.add(point, summary);
                point += summary.count;
            }
            if (rollup.integer("step_last") >= rest.last) return;
            rest.first = rollup.integer("step_last") + 1;
        }
        add_chunks(rest, summaries_at_once, false, buckets);
    }

    Store& store_;
    std::string_view job_id_;
    std::string_view name_;
    StepRange range_;
};

}    // namespace

Curve read_curve(Store& store, std::string_view job_id, std::string_view name,
                 const StepRange& range, const CurveSize& size) {
    return CurveReader(store, job_id, name, range).read_curve(size);
}

std::vector<std::string> list_metric_names(Store& store, std::string_view job_id,
                                           std::int64_t names_max) {
    std::vector<std::string> names;
    for (const Row row : read(store.pool(), queries::list_metric_names, {job_id, names_max}))
        names.push_back(row.text("name"));
    return names;
}

}    // namespace slipway::store
