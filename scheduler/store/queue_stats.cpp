// Counting a million rows takes half a second, and finding their median as long. So nothing is
// counted when it is asked for: triggers write each change with the job itself (job_count,
// queue_held_count), the leader adds the changes up every 10 seconds, and a read sums what is left.
// The oldest ready job of a project and class is the first entry of an index. Tried: one row for
// each project, updated in place, which has all submissions of a project wait for each other.
#include "scheduler/store/queue_stats.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

QueueTotal read_queue_total(const Row& row) {
    return {.project = row.text("project"),
            .queue_class = row.text("queue_class"),
            .jobs = row.integer("jobs"),
            .start_after = row.integer("start_after"),
            .waiting_for_dataset = row.integer("waiting_for_dataset"),
            .oldest_ready_at = row.maybe_time("oldest_ready_at")};
}

QueueRate read_queue_rate(const Row& row) {
    return {.window = std::chrono::seconds(row.integer("window_s")),
            .submitted = row.integer("submitted"),
            .started = row.integer("started"),
            .ended = row.integer("ended"),
            .wait_mean_s = row.maybe_number("wait_mean_s"),
            .wait_max_s = row.maybe_number("wait_max_s")};
}

}    // namespace

QueueStats read_queue_stats(Store& store, const std::vector<std::string>& projects) {
    const Param asked = Param::or_null(projects);
    QueueStats stats;
    for (const Row row : read(store.pool(), queries::list_queue_totals, {asked}))
        stats.totals.push_back(read_queue_total(row));
    for (const Row row : read(store.pool(), queries::list_queue_rates, {asked})) {
        stats.rates.push_back(read_queue_rate(row));
        stats.now = row.time("now");
    }
    return stats;
}

}    // namespace slipway::store
