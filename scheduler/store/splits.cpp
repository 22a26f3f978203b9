#include "scheduler/store/splits.h"

#include <fmt/core.h>

#include "api/base/check.h"
#include "api/base/id.h"
#include "api/base/plural.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

constexpr std::string_view split_state_names[] = {"making", "ready", "failed"};

SplitState parse_split_state(std::string_view text) {
    for (const SplitState state : {SplitState::making, SplitState::ready, SplitState::failed})
        if (to_string(state) == text) return state;
    check(false, "the database's split states are ours");
    return SplitState::failed;
}

StoredSplit read_split(const Row& row) {
    return {.id = row.text("id"),
            .dataset_id = row.text("dataset_id"),
            .request = row.text("request"),
            .state = parse_split_state(row.text("state")),
            .report = row.text("report"),
            .problems = row.text("problems"),
            .folds = row.maybe_integer("folds").value_or(0),
            .hash = row.text("hash"),
            .bytes = row.integer("bytes"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .made_at = row.maybe_time("made_at")};
}

void require_fewer_splits(Transaction& transaction, const StoredSplit& split, std::int64_t max) {
    transaction.run(queries::lock_making);
    const Rows counts =
        transaction.run(queries::count_making, {split.dataset_id, split.created_by});
    if (counts.empty()) return;    // the insert says that there is no dataset
    const auto require = [max](const std::string& who, std::int64_t making) {
        if (making < max) return;
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} has {}, and the maximum is {} "
                                "(--making-splits-max); try again when some are ready",
                                who, counted(making, "unfinished split"), max)};
    };
    require(fmt::format("project {}", counts[0].text("project")), counts[0].integer("of_project"));
    require("this token", counts[0].integer("of_token"));
}

}    // namespace

std::string_view to_string(SplitState state) noexcept {
    return split_state_names[std::size_t(state)];
}

StoredSplit create_split(Store& store, const StoredSplit& split, std::int64_t making_max) {
    try {
        StoredSplit stored = transact(store.pool(), [&](Transaction& transaction) {
            insert_split_in(transaction, split, making_max);
            return read_split(transaction.commit({{&queries::find_split, {split.id}}}).back()[0]);
        });
        store.announce(topics::datasets);
        if (const auto dataset = find_dataset(store, stored.dataset_id))
            store.announce({.id = stored.id,
                            .project = dataset->project,
                            .state = std::string(to_string(stored.state))});
        return stored;
    } catch (const PgError& error) {
        if (error.constraint() != "split_dataset_id_fkey") throw;
        throw Error{ErrorCode::not_found, fmt::format("there is no dataset {}", split.dataset_id)};
    }
}

void insert_split_in(Transaction& transaction, const StoredSplit& split, std::int64_t making_max) {
    if (making_max > 0) require_fewer_splits(transaction, split, making_max);
    transaction.run(queries::insert_split,
                    {split.id, split.dataset_id, split.request, split.created_by});
}

std::string use_split_in(Transaction& transaction, const SplitUse& use, std::int64_t making_max) {
    if (!use.make) {
        if (transaction.run(queries::lock_split_of_cross_validation, {use.split_id, use.dataset_id})
                .empty())
            throw Error{ErrorCode::not_found, fmt::format("there is no split {}", use.split_id)};
        return use.split_id;
    }
    const Rows equal =
        transaction.run(queries::find_equal_split, {use.make->dataset_id, use.make->request});
    if (!equal.empty()) return equal[0].text("id");
    insert_split_in(transaction, *use.make, making_max);
    return use.make->id;
}

std::optional<StoredSplit> find_split(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_split, {id});
    if (rows.empty()) return std::nullopt;
    return read_split(rows[0]);
}

Page<StoredSplit> list_splits(Store& store, std::string_view dataset_id, const PageRequest& page) {
    const std::string scope = fmt::format("splits {}", dataset_id);
    const Rows rows = read(store.pool(), queries::list_splits,
                           {dataset_id, place_of(scope, page), rows_to_ask(page), page_bytes_max});
    return make_cut_page<StoredSplit>(rows, page, scope, read_split, place_of_id);
}

bool delete_split(Store& store, std::string_view id) {
    std::string project;
    const bool deleted = transact(store.pool(), [&](Transaction& transaction) {
        const std::vector<Rows> found = transaction.run(std::vector<Statement>{
            {&queries::lock_split, {id}}, {&queries::find_split_user, {id}}});
        if (found[0].empty()) return false;
        if (!found[1].empty()) {
            throw Error{ErrorCode::conflict,
                        fmt::format("split {} is used by {}, which has not ended", id,
                                    found[1][0].text("used_by"))};
        }
        project = found[0][0].text("project");
        transaction.commit({{&queries::delete_split, {id}}});
        return true;
    });
    if (deleted) store.announce({.id = std::string(id), .project = project, .state = "deleted"});
    return deleted;
}

std::optional<SplitClaim> claim_split(Store& store, std::string_view host,
                                      std::chrono::milliseconds lease) {
    const std::string fence = random_hex(16);
    const Rows rows =
        write_with_kept_plan(store.pool(), {&queries::claim_split, {host, fence, lease}});
    if (rows.empty()) return std::nullopt;
    const Row row = rows[0];
    return SplitClaim{.id = row.text("id"),
                      .fence = fence,
                      .request = row.text("request"),
                      .dataset_id = row.text("dataset_id"),
                      .project = row.text("project"),
                      .format = row.text("format"),
                      .source = row.text("source"),
                      .options = row.text("options"),
                      .content_hash = row.text("content_hash"),
                      .dataset_failed = row.flag("dataset_failed")};
}

bool renew_split(Store& store, std::string_view id, std::string_view fence,
                 std::chrono::milliseconds lease) {
    return write(store.pool(), queries::renew_split, {id, fence, lease}).affected() > 0;
}

void release_split(Store& store, std::string_view id, std::string_view fence) {
    write(store.pool(), queries::release_split, {id, fence});
}

bool finish_split(Store& store, std::string_view id, std::string_view fence,
                  const SplitResult& result) {
    const SplitState state = result.ready ? SplitState::ready : SplitState::failed;
    const auto json = [](const JsonText& text) {
        return text.empty() ? Param(std::nullopt) : Param(repaired_json(text));
    };
    const Rows finished = write(
        store.pool(), queries::finish_split,
        {id, fence, to_string(state), json(result.report), json(result.problems),
         result.ready ? Param(result.folds) : Param(std::nullopt), result.hash, result.bytes});
    if (finished.empty()) return false;
    store.announce({.id = std::string(id),
                    .project = finished[0].text("project"),
                    .state = std::string(to_string(state))});
    return true;
}

}    // namespace slipway::store
