#include "scheduler/store/checkpoints.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "api/spec/checkpoint_writer.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Checkpoint read_checkpoint(const Row& row) {
    return {.id = row.text("id"),
            .job_id = row.text("job_id"),
            .project = row.text("project"),
            .attempt = row.small("attempt"),
            .name = row.text("name"),
            .step = row.integer("step"),
            .epoch = row.integer("epoch"),
            .kinds = row.texts("kinds"),
            .files = row.text("files"),
            .bytes = row.integer("bytes"),
            .metric_name = row.text("metric_name"),
            .metric_value = row.maybe_number("metric_value"),
            .pinned = row.flag("pinned"),
            .created_at = row.time("created_at"),
            .deleted_at = row.maybe_time("deleted_at"),
            .written_by = row.text("written_by")};
}

std::optional<Checkpoint> first_checkpoint(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return read_checkpoint(rows[0]);
}

}    // namespace

SavedMeasurement measurement_of(const Checkpoint& checkpoint) {
    return {.step = checkpoint.step,
            .epoch = checkpoint.epoch,
            .metric_name = checkpoint.metric_name,
            .metric_value = checkpoint.metric_value};
}

std::string incompatibility(const Checkpoint& checkpoint) {
    const auto writer = read_checkpoint_writer(
        checkpoint.written_by.empty() ? Json() : stored_json(checkpoint.written_by));
    return writer ? slipway::incompatibility(*writer, checkpoint.id) : std::string();
}

Page<Checkpoint> list_checkpoints(Store& store, const CheckpointFilter& filter,
                                  const PageRequest& page) {
    const std::string scope = fmt::format("checkpoints {}\n{}\n{}", filter.job_id,
                                          fmt::join(filter.projects, ","), filter.deleted_too);
    const Rows rows =
        read(store.pool(), queries::list_checkpoints,
             {Param::or_null(filter.job_id), Param::or_null(filter.projects), filter.deleted_too,
              place_of(scope, page), rows_to_ask(page), page_bytes_max});
    return make_cut_page<Checkpoint>(rows, page, scope, read_checkpoint, place_of_id);
}

std::optional<Checkpoint> find_checkpoint(Store& store, std::string_view id) {
    return first_checkpoint(read(store.pool(), queries::find_checkpoint, {id}));
}

std::optional<Checkpoint> find_newest_checkpoint(Store& store, std::string_view job_id) {
    return first_checkpoint(read(store.pool(), queries::find_newest_checkpoint, {job_id}));
}

std::vector<PartCheckpoint> list_part_checkpoints(Store& store, std::string_view parent_id,
                                                  std::string_view part) {
    std::vector<PartCheckpoint> found;
    for (const Row row : read(store.pool(), queries::list_part_checkpoints, {parent_id, part}))
        found.push_back({.checkpoint = read_checkpoint(row), .key = row.text("parent_key")});
    return found;
}

bool delete_checkpoint(Store& store, std::string_view id) {
    return transact(store.pool(), [&](Transaction& transaction) {
        const std::vector<Rows> found = transaction.run(std::vector<Statement>{
            {&queries::lock_checkpoint, {id}}, {&queries::is_checkpoint_needed, {id}}});
        const Rows& rows = found[0];
        if (rows.empty()) return false;
        if (rows[0].flag("deleted")) return true;
        if (rows[0].flag("pinned")) {
            throw Error{ErrorCode::conflict,
                        fmt::format("checkpoint {} is pinned; unpin it first", id)};
        }
        if (found[1][0].flag("needed")) {
            throw Error{ErrorCode::conflict,
                        fmt::format("checkpoint {} is the newest of a job that has not ended: the "
                                    "job would resume from it",
                                    id)};
        }
        const Rows users = transaction.run(queries::find_checkpoint_user, {id});
        if (!users.empty()) {
            throw Error{ErrorCode::conflict,
                        fmt::format("checkpoint {} is used by job {}, which has not ended", id,
                                    users[0].text("job_id"))};
        }
        transaction.commit({{&queries::mark_checkpoint_deleted, {id}}});
        return true;
    });
}

std::optional<Checkpoint> pin_checkpoint(Store& store, std::string_view id, bool pinned) {
    return transact(store.pool(), [&](Transaction& transaction) {
        const std::vector<Rows> answers = transaction.commit(
            {{&queries::pin_checkpoint, {id, pinned}}, {&queries::find_checkpoint, {id}}});
        return first_checkpoint(answers.back());
    });
}

void pin_checkpoint_in(Transaction& transaction, std::string_view id) {
    transaction.run(queries::pin_checkpoint, {id, true});
}

}    // namespace slipway::store
