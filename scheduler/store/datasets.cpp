#include "scheduler/store/datasets.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/plural.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/project_steps.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/shared_reads.h"
#include "scheduler/store/text.h"
#include "scheduler/store/upload_use.h"

namespace slipway::store {

namespace {

constexpr std::string_view state_names[] = {"checking", "ready", "failed"};

DatasetState parse_state(std::string_view text) {
    for (const DatasetState state :
         {DatasetState::checking, DatasetState::ready, DatasetState::failed}) {
        if (to_string(state) == text) return state;
    }
    check(false, "the database's dataset states are ours");
    return DatasetState::failed;
}

Dataset read_dataset(const Row& row) {
    return {.id = row.text("id"),
            .project = row.text("project"),
            .name = row.text("name"),
            .format = row.text("format"),
            .source = row.text("source"),
            .options = row.text("options"),
            .state = parse_state(row.text("state")),
            .report = row.text("report"),
            .problems = row.text("problems"),
            .content_hash = row.text("content_hash"),
            .bytes = row.integer("bytes"),
            .created_by = row.text("created_by"),
            .version = row.integer("version"),
            .created_at = row.time("created_at"),
            .checked_at = row.maybe_time("checked_at")};
}

std::optional<Dataset> first_dataset(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return read_dataset(rows[0]);
}

/// The upload a source names; empty when it names a path.
std::string upload_of(const JsonText& source) {
    const auto parsed = nlohmann::json::parse(source, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("upload") || !parsed["upload"].is_string()) {
        return {};
    }
    return parsed["upload"].get<std::string>();
}

void require_fewer_checks(Transaction& transaction, const NewDataset& dataset, std::int64_t max) {
    transaction.run(queries::lock_checking);
    const Rows counts =
        transaction.run(queries::count_checking, {dataset.project, dataset.created_by});
    const auto require = [max](const std::string& who, std::int64_t checking) {
        if (checking < max) return;
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} has {}, and the maximum is "
                                "{} (--checking-datasets-max); try again when some are ready",
                                who, counted(checking, "unchecked dataset"), max)};
    };
    require(fmt::format("project {}", dataset.project), counts[0].integer("of_project"));
    require("this token", counts[0].integer("of_token"));
}

/// Jobs that follow a check in one transaction: each costs up to half a millisecond, and a
/// statement may take 5 s. Those of nearly every dataset are fewer.
constexpr int followed_at_once = 500;

/// Lets `count_max` jobs that wait for a checked dataset start, or fail.
Statement follow_statement(std::string_view id, DatasetState state, int count_max) {
    const bool ready = state == DatasetState::ready;
    return {ready ? &queries::release_jobs_of_dataset : &queries::fail_jobs_of_dataset,
            {id, count_max}};
}

void announce_each(Store& store, const Rows& jobs) {
    for (const Row row : jobs)
        store.announce(row.text("id"));
}

/// The file that a dataset is made from.
struct TakenUpload {
    std::string host{};
    std::int64_t bytes = 0;
};

/// Takes an upload for a dataset: it is complete, and no job needs it where it is.
TakenUpload lock_upload(Transaction& transaction, const std::string& id) {
    const Rows rows = transaction.run(queries::lock_upload, {id});
    if (rows.empty()) {
        throw Error{ErrorCode::not_found, fmt::format("there is no upload {}", id)};
    }
    if (!rows[0].flag("complete")) {
        throw Error{ErrorCode::conflict, fmt::format("the upload {} is not complete", id)};
    }
    require_unused_upload(transaction, id);
    return {.host = rows[0].text("host"), .bytes = rows[0].integer("size")};
}

/// The token has had these bytes counted since it announced them.
void require_stored_below(Transaction& transaction, const NewDataset& dataset, std::int64_t more,
                          std::int64_t max) {
    const std::int64_t stored =
        transaction.run(queries::count_stored_bytes, {dataset.project, dataset.created_by})[0]
            .integer("of_project");
    if (more <= max - stored) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("project {} has {} bytes of datasets made from uploads; {} more would "
                            "exceed {} (--stored-max-gib); delete some first",
                            dataset.project, stored, more, max)};
}

Statement insert_statement(const NewDataset& dataset, const TakenUpload& upload) {
    return {&queries::insert_dataset,
            {dataset.id, dataset.project, dataset.name, dataset.format, dataset.source,
             dataset.options.empty() ? "{}" : dataset.options, dataset.created_by,
             Param::or_null(upload.host), upload.bytes}};
}

}    // namespace

std::string_view to_string(DatasetState state) noexcept {
    return state_names[std::size_t(state)];
}

Dataset create_dataset(Store& store, const NewDataset& dataset, const DatasetLimits& limits) {
    const std::string upload = upload_of(dataset.source);
    const Statement find{&queries::find_dataset, {dataset.id}};
    try {
        Dataset stored = transact(store.pool(), [&](Transaction& transaction) {
            if (limits.checking_max > 0)
                require_fewer_checks(transaction, dataset, limits.checking_max);
            claim_project(transaction, dataset.project, dataset.created_by, limits.projects_max);
            std::vector<Statement> last;
            TakenUpload taken;
            if (!upload.empty()) {
                transaction.run(queries::lock_uploads);
                taken = lock_upload(transaction, upload);
                if (limits.stored_max > 0)
                    require_stored_below(transaction, dataset, taken.bytes, limits.stored_max);
                last.push_back({&queries::consume_upload, {upload}});
            }
            last.push_back(insert_statement(dataset, taken));
            last.push_back(find);
            return read_dataset(transaction.commit(std::move(last)).back()[0]);
        });
        store.announce(topics::datasets);
        store.announce({.id = stored.id,
                        .project = stored.project,
                        .state = std::string(to_string(stored.state))});
        return stored;
    } catch (const PgError& error) {
        // The constraint knows what a look before the insert could only guess.
        if (error.constraint() != "dataset_project_name_key") throw;
        throw Error{ErrorCode::conflict, fmt::format("project {} already has a dataset named {}",
                                                     dataset.project, dataset.name)};
    }
}

std::optional<Dataset> find_dataset(Store& store, std::string_view id) {
    return first_dataset(read(store.pool(), queries::find_dataset, {id}));
}

std::optional<Dataset> find_dataset(Store& store, std::string_view project,
                                    std::string_view id_or_name, Tick asked_at) {
    const auto find = [&] {
        if (is_id("ds", id_or_name)) return find_dataset(store, id_or_name);
        return first_dataset(
            read(store.pool(), queries::find_dataset_by_name, {project, id_or_name}));
    };
    return *store.shared_reads().datasets.get({std::string(project), std::string(id_or_name)},
                                              asked_at, find);
}

JsonText find_dataset_preview(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_dataset_preview, {id});
    return rows.empty() ? JsonText() : rows[0].text("preview");
}

Page<Dataset> list_datasets(Store& store, const DatasetFilter& filter, const PageRequest& page) {
    const std::string_view state = filter.state ? to_string(*filter.state) : "";
    const std::string scope =
        fmt::format("datasets {}\n{}\n{}\n{}", fmt::join(filter.projects, ","), filter.format,
                    state, filter.name_contains);
    const Rows rows =
        read(store.pool(), queries::list_datasets,
             {Param::or_null(filter.projects), Param::or_null(filter.format), Param::or_null(state),
              filter.name_contains.empty() ? Param(std::nullopt)
                                           : Param(contains_pattern(filter.name_contains)),
              place_of(scope, page), rows_to_ask(page), page_bytes_max});
    return make_cut_page<Dataset>(rows, page, scope, read_dataset, place_of_id);
}

bool delete_dataset(Store& store, std::string_view id) {
    std::string project;
    const bool deleted = transact(store.pool(), [&](Transaction& transaction) {
        const std::vector<Rows> found = transaction.run(std::vector<Statement>{
            {&queries::lock_dataset, {id}}, {&queries::find_dataset_user, {id}}});
        const Rows& locked = found[0];
        const Rows& users = found[1];
        if (locked.empty()) return false;
        if (!users.empty()) {
            throw Error{ErrorCode::conflict,
                        fmt::format("dataset {} is used by {}, which has not ended", id,
                                    users[0].text("used_by"))};
        }
        project = locked[0].text("project");
        transaction.commit(
            {{&queries::delete_dataset, {id, Param::or_null(locked[0].text("upload"))}}});
        return true;
    });
    if (deleted) store.announce({.id = std::string(id), .project = project, .state = "deleted"});
    return deleted;
}

std::optional<DatasetCheck> claim_dataset_check(Store& store, std::string_view host,
                                                std::chrono::milliseconds lease) {
    const std::string fence = random_hex(16);
    const Rows rows =
        write_with_kept_plan(store.pool(), {&queries::claim_dataset_check, {host, fence, lease}});
    if (rows.empty()) return std::nullopt;
    return DatasetCheck{read_dataset(rows[0]), fence};
}

bool renew_dataset_check(Store& store, std::string_view id, std::string_view fence,
                         std::chrono::milliseconds lease) {
    return write(store.pool(), queries::renew_dataset_check, {id, fence, lease}).affected() > 0;
}

void release_dataset_check(Store& store, std::string_view id, std::string_view fence) {
    write(store.pool(), queries::release_dataset_check, {id, fence});
}

bool finish_dataset_check(Store& store, std::string_view id, std::string_view fence,
                          const DatasetCheckResult& result) {
    const DatasetState state = result.ready ? DatasetState::ready : DatasetState::failed;
    const JsonText report = result.report.empty() && result.ready ? "{}" : result.report;
    const JsonText problems = result.problems.empty() && !result.ready ? "[]" : result.problems;
    const auto json = [](const JsonText& text) {
        return text.empty() ? Param(std::nullopt) : Param(repaired_json(text));
    };
    std::string project;
    const std::optional<Rows> followed =
        transact(store.pool(), [&](Transaction& transaction) -> std::optional<Rows> {
            const Rows finished =
                transaction.run(queries::finish_dataset_check,
                                {id, fence, to_string(state), json(report), json(problems),
                                 result.content_hash, result.bytes, json(result.preview)});
            if (finished.empty()) return std::nullopt;
            project = finished[0].text("project");
            std::vector<Rows> answers =
                transaction.commit({follow_statement(id, state, followed_at_once)});
            return std::move(answers.back());
        });
    if (!followed) return false;
    announce_each(store, *followed);
    store.announce(
        {.id = std::string(id), .project = project, .state = std::string(to_string(state))});
    store.announce(topics::queue);
    store.announce(topics::datasets);    // splits that waited for the check
    return true;
}

bool follow_checked_datasets(Store& store, const LeaderTerm& term) {
    int left = followed_at_once;
    for (const Row row : read(store.pool(), queries::list_datasets_to_follow)) {
        const Statement follow =
            follow_statement(row.text("id"), parse_state(row.text("state")), left);
        const std::vector<Rows> followed = write_as_leader(store.pool(), term, {follow});
        announce_each(store, followed[0]);
        left -= followed[0].size();
        if (left == 0) break;
    }
    if (left < followed_at_once) store.announce(topics::queue);
    return left == 0;
}

}    // namespace slipway::store
