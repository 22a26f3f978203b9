#pragma once

#include <map>
#include <vector>

#include "scheduler/store/metrics/bucket.h"
#include "scheduler/store/pg/columns.h"
#include "scheduler/store/pg/pool.h"

// How a batch of points is added to the metrics of a job.
namespace slipway::store {

/// Where the points of a metric end.
struct SeriesEnd {
    std::int64_t points = 0;
    std::int64_t step_last = 0;
    std::int64_t tail_rows = 0;      ///< chunks after the last full one
    std::int64_t tail_points = 0;    ///< that they hold
};

/// By name.
using SeriesEnds = std::map<std::string, SeriesEnd, std::less<>>;
/// Successive samples of each metric, at least one.
using NewPoints = std::map<std::string, std::vector<MetricSample>, std::less<>>;

/// The first `names_max` metrics of a job.
SeriesEnds read_series_ends(Transaction& transaction, std::string_view job_id,
                            std::int64_t names_max);

/// What adds points to the metrics of jobs, each job once, to be sent in one transaction.
struct SeriesStatements {
    SeriesStatements();

    std::vector<Statement> cuts{};       ///< of what is written again
    Columns chunks;                      ///< the points
    Columns values;                      ///< the last, the lowest and the highest of each metric
    std::vector<Statement> rollups{};    ///< of the chunks, which are there before

    /// In the order in which they are to be sent.
    std::vector<Statement> all() const;
};

/// Adds what adds `points`, of the live attempt `attempt`, to the job's metrics, and keeps the
/// values by which jobs are listed. A point of a step that its metric has reached before takes the
/// place of the points from there on: training went back to that step. Reads what is to be written
/// again; nobody else may write the job's metrics meanwhile. Returns the ends of the metrics with
/// new points, once it is committed.
///   ends  of at least the metrics that have points already, as they are stored
SeriesEnds add_points(Transaction& transaction, std::string_view job_id, int attempt,
                      const NewPoints& points, const SeriesEnds& ends,
                      SeriesStatements& statements);

}    // namespace slipway::store
