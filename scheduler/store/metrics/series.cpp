// Points arrive in batches of any size, one point or thousands, and are kept in chunks of 512. To
// write the last chunk again with each batch would write a slow metric's points 256 times; to keep
// every batch as a row takes 150 bytes for a single point. So a batch is a row of its own (the
// tail) until 32 rows or 512 points have come together: then they are written again as one row, or
// as full chunks and a rest. A point is so written twice if batches are large and up to 17 times if
// each has one point, by when it takes 9 bytes.
//
// A full chunk is not written again, except when training goes back to a step within it (a new
// attempt resumes from a checkpoint): then what follows that step is removed, and the points before
// it become the tail.
#include "scheduler/store/metrics/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/store/metrics/chunk.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

constexpr std::int64_t tail_rows_max = 32;
constexpr std::int64_t rollup_points = chunk_samples * rollup_chunks;

/// Metrics, each with a step.
struct NamedSteps {
    std::vector<std::string> names;
    std::vector<std::int64_t> steps;

    void add(const std::string& name, std::int64_t step) {
        names.push_back(name);
        steps.push_back(step);
    }
};

std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        text += digits[std::uint8_t(c) >> 4];
        text += digits[std::uint8_t(c) & 15];
    }
    return text;
}

std::string summary_of(std::span<const MetricSample> samples) {
    MetricBucket all;
    for (const MetricSample& sample : samples)
        add_later(all, to_bucket(sample));
    return encode_summary(all);
}

/// The tail of a metric, to be written again with its new points.
struct Tail {
    std::int64_t first_point = 0;
    std::vector<MetricSample> samples{};
};

class SeriesWriter {
public:
    SeriesWriter(std::string_view job_id, int attempt, const NewPoints& points,
                 const SeriesEnds& ends, SeriesStatements& statements)
        : job_id_(job_id), attempt_(attempt), points_(points), statements_(statements) {
        for (const auto& [name, samples] : points_) {
            const auto known = ends.find(name);
            const SeriesEnd end = known == ends.end() ? SeriesEnd{} : known->second;
            const std::int64_t step = samples.front().step;
            const bool goes_back = end.points > 0 && step <= end.step_last;
            const std::int64_t tail_points = end.tail_points + std::ssize(samples);
            if (goes_back) gone_back_.add(name, step);
            if (goes_back || tail_points >= chunk_samples || end.tail_rows >= tail_rows_max) {
                rewritten_.add(name, step);
            } else {
                append(name, end);
            }
        }
    }

    SeriesEnds write(Transaction& transaction) {
        if (!rewritten_.names.empty()) {
            const Rows rows = transaction.run(queries::read_series_ends,
                                              {job_id_, rewritten_.names, rewritten_.steps});
            rewrite(rows);
            statements_.cuts.push_back(named(queries::cut_series, cut_));
        }
        if (!gone_back_.names.empty())
            statements_.cuts.push_back(named(queries::cut_rollups, gone_back_));
        if (!filled_.names.empty())
            statements_.rollups.push_back(named(queries::insert_rollups, filled_));
        return std::move(ends_);
    }

private:
    Statement named(const Query& query, const NamedSteps& steps) const {
        return {&query, {job_id_, steps.names, steps.steps}};
    }

    void append(const std::string& name, const SeriesEnd& end) {
        const std::vector<MetricSample>& samples = points_.find(name)->second;
        add_chunk(name, end.points, samples);
        ends_[name] = {.points = end.points + std::ssize(samples),
                       .step_last = samples.back().step,
                       .tail_rows = end.tail_rows + 1,
                       .tail_points = end.tail_points + std::ssize(samples)};
    }

    /// `rows`: of read_series_ends, by metric.
    void rewrite(const Rows& rows) {
        int next = 0;
        for (std::size_t i = 0; i < rewritten_.names.size(); ++i) {
            const std::string& name = rewritten_.names[i];
            const std::vector<MetricSample>& added = points_.find(name)->second;
            std::int64_t cut = added.front().step;
            Tail tail;
            for (; next < rows.size() && rows[next].text("name") == name; ++next) {
                const Row row = rows[next];
                if (row.is_null("data")) {
                    tail.first_point = row.integer("first_point") + row.integer("points");
                    continue;
                }
                if (tail.samples.empty()) tail.first_point = row.integer("first_point");
                cut = std::min(cut, row.integer("step_first"));
                for (const MetricSample& sample : decode_samples(row.bytes("data")))
                    if (sample.step < added.front().step) tail.samples.push_back(sample);
            }
            cut_.add(name, cut);
            tail.samples.insert(tail.samples.end(), added.begin(), added.end());
            add_tail(name, tail);
        }
    }

    void add_tail(const std::string& name, const Tail& tail) {
        const std::span<const MetricSample> samples(tail.samples);
        std::size_t at = 0;
        for (; samples.size() - at >= std::size_t(chunk_samples); at += chunk_samples) {
            const auto chunk = samples.subspan(at, chunk_samples);
            const std::int64_t first_point = tail.first_point + std::int64_t(at);
            add_chunk(name, first_point, chunk, summary_of(chunk));
            if ((first_point + chunk_samples) % rollup_points == 0)
                filled_.add(name, chunk.front().step);
        }
        const auto rest = samples.subspan(at);
        if (!rest.empty()) add_chunk(name, tail.first_point + std::int64_t(at), rest);
        ends_[name] = {.points = tail.first_point + std::ssize(tail.samples),
                       .step_last = samples.back().step,
                       .tail_rows = rest.empty() ? 0 : 1,
                       .tail_points = std::ssize(rest)};
    }

    void add_chunk(const std::string& name, std::int64_t first_point,
                   std::span<const MetricSample> samples, std::string_view summary = {}) {
        statements_.chunks.add({job_id_, attempt_, name, first_point,
                                std::int64_t(std::ssize(samples)), samples.front().step,
                                samples.back().step, hexadecimal(summary),
                                hexadecimal(encode_samples(samples))});
    }

    std::string_view job_id_;
    int attempt_;
    const NewPoints& points_;
    NamedSteps rewritten_;
    NamedSteps gone_back_;
    NamedSteps cut_;
    NamedSteps filled_;
    SeriesStatements& statements_;
    SeriesEnds ends_;
};

struct ValueRange {
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = low;
};

/// Of the finite values; NaN: there is none.
ValueRange range_of(std::span<const MetricSample> samples) {
    ValueRange range;
    for (const MetricSample& sample : samples) {
        if (!std::isfinite(sample.value)) continue;
        range.low = std::fmin(range.low, sample.value);
        range.high = std::fmax(range.high, sample.value);
    }
    return range;
}

void keep_values(std::string_view job_id, const NewPoints& points, Columns& values) {
    for (const auto& [name, samples] : points) {
        const double last = samples.back().value;
        const ValueRange range = range_of(samples);
        values.add({job_id, name,
                    std::isfinite(last) ? last : std::numeric_limits<double>::quiet_NaN(),
                    range.low, range.high});
    }
}

}    // namespace

SeriesEnds read_series_ends(Transaction& transaction, std::string_view job_id,
                            std::int64_t names_max) {
    SeriesEnds ends;
    for (const Row row : transaction.run(queries::list_series_ends, {job_id, names_max}))
        ends[row.text("name")] = {.points = row.integer("points"),
                                  .step_last = row.integer("step_last"),
                                  .tail_rows = row.integer("tail_rows"),
                                  .tail_points = row.integer("tail_points")};
    return ends;
}

SeriesStatements::SeriesStatements()
    : chunks(queries::insert_chunks), values(queries::keep_metric_values) {}

std::vector<Statement> SeriesStatements::all() const {
    std::vector<Statement> ordered = cuts;
    for (const Columns* rows : {&chunks, &values})
        if (!rows->empty()) ordered.push_back(rows->statement());
    ordered.insert(ordered.end(), rollups.begin(), rollups.end());
    return ordered;
}

SeriesEnds add_points(Transaction& transaction, std::string_view job_id, int attempt,
                      const NewPoints& points, const SeriesEnds& ends,
                      SeriesStatements& statements) {
    keep_values(job_id, points, statements.values);
    return SeriesWriter(job_id, attempt, points, ends, statements).write(transaction);
}

}    // namespace slipway::store
