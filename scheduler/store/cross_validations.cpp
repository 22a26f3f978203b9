// Rows of folds are the memory of a cross-validation: a fold moves from state to state only from
// the state that the writer saw, in one transaction with the jobs that the move makes. So a step
// that is repeated after a crash, or by a second leader, finds nothing left to do.
#include "scheduler/store/cross_validations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

constexpr auto cross_validation_words = std::to_array<std::string_view>(
    {"preparing", "running", "cancelling", "succeeded", "failed", "cancelled"});

CrossValidationState parse_cross_validation_state(std::string_view text) {
    const auto* const found = std::ranges::find(cross_validation_words, text);
    check(found != cross_validation_words.end(),
          "the database's states of cross-validations are ours");
    return static_cast<CrossValidationState>(found - cross_validation_words.begin());
}

std::map<std::string, std::int64_t> read_fold_states(const Row& row) {
    const Json counts = stored_json(row.text("fold_states"));
    if (!counts.is_object()) return {};
    return counts.get<std::map<std::string, std::int64_t>>();
}

std::optional<OofFile> read_oof(const Row& row) {
    const auto rows = row.maybe_integer("oof_rows");
    if (!rows) return std::nullopt;
    return OofFile{.rows = *rows,
                   .bytes = row.maybe_integer("oof_bytes").value_or(0),
                   .sha256 = row.text("oof_sha256")};
}

CrossValidation read_cross_validation(const Row& row) {
    return {.id = row.text("id"),
            .name = row.text("name"),
            .project = row.text("project"),
            .labels = labels_from_json(row.text("labels")),
            .state = parse_cross_validation_state(row.text("state")),
            .reason = reason_of(row),
            .spec = row.text("spec"),
            .dataset_id = row.text("dataset_id"),
            .split_id = row.text("split_id"),
            .split_hash = row.text("split_hash"),
            .repeats = row.maybe_integer("repeats").value_or(0),
            .fold_states = read_fold_states(row),
            .refit_job_id = row.text("refit_job_id"),
            .oof = read_oof(row),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .started_at = row.maybe_time("started_at"),
            .finished_at = row.maybe_time("finished_at")};
}

/// Of columns that begin with `part`: "training_state", …
std::optional<FoldJob> read_fold_job(const Row& row, const std::string& part) {
    if (row.is_null(part + "_state")) return std::nullopt;
    const auto state = parse_word<JobState>(row.text(part + "_state"));
    check(state.has_value(), "the database's job states are ours");
    FoldJob job{.state = *state};
    if (!row.is_null(part + "_code"))
        job.reason = Reason{row.text(part + "_code"), row.text(part + "_message")};
    return job;
}

StoredFold read_fold(const Row& row) {
    StoredFold fold{.fold = row.integer("fold"),
                    .state = row.text("state"),
                    .predicts = row.flag("predicts"),
                    .reason = row.text("reason"),
                    .job_id = row.text("job_id"),
                    .prediction_id = row.text("prediction_id"),
                    .train_samples = row.integer("train_samples"),
                    .val_samples = row.integer("val_samples"),
                    .result = row.text("result"),
                    .finished_at = row.maybe_time("finished_at"),
                    .training = read_fold_job(row, "training"),
                    .prediction = read_fold_job(row, "prediction")};
    if (fold.training) fold.training->result = row.text("training_result");
    return fold;
}

Error no_such(std::string_view what, std::string_view id) {
    return Error{ErrorCode::not_found, fmt::format("there is no {} {}", what, id)};
}

void check_leader_in(Transaction& transaction, const LeaderTerm& term) {
    if (term.number > 0) transaction.run(std::vector<Statement>{check_statement(term)});
}

void require_all(std::size_t wanted, const Rows& claimed) {
    if (std::size_t(claimed.size()) == wanted) return;
    throw Error{ErrorCode::conflict, "a fold of the cross-validation has been given a job already"};
}

}    // namespace

std::string_view to_string(CrossValidationState state) noexcept {
    return cross_validation_words[std::size_t(state)];
}

bool has_ended(CrossValidationState state) noexcept {
    return state >= CrossValidationState::succeeded;
}

CrossValidation create_cross_validation(Store& store, CrossValidation wanted,
                                        const std::optional<StoredSplit>& split,
                                        std::int64_t making_max) {
    CrossValidation stored = transact(store.pool(), [&](Transaction& transaction) {
        const std::string split_id = use_split_in(
            transaction,
            {.dataset_id = wanted.dataset_id, .split_id = wanted.split_id, .make = split},
            making_max);
        if (transaction
                .run(queries::insert_cross_validation,
                     {wanted.id, wanted.name, wanted.project, labels_to_json(wanted.labels),
                      wanted.spec, wanted.dataset_id, split_id, wanted.created_by})
                .empty())
            throw no_such("dataset", wanted.dataset_id);
        return read_cross_validation(
            transaction.commit({{&queries::find_cross_validation, {wanted.id}}}).back()[0]);
    });
    store.announce(topics::datasets);
    store.announce(stored.id);
    return stored;
}

std::optional<std::string> find_equal_split(Store& store, std::string_view dataset_id,
                                            const JsonText& request) {
    const Rows rows = read(store.pool(), queries::find_equal_split, {dataset_id, request});
    if (rows.empty()) return std::nullopt;
    return rows[0].text("id");
}

std::optional<CrossValidation> find_cross_validation(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_cross_validation, {id});
    if (rows.empty()) return std::nullopt;
    return read_cross_validation(rows[0]);
}

Page<CrossValidation> list_cross_validations(Store& store, const CrossValidationFilter& filter,
                                             const PageRequest& page) {
    std::string scope = "cross-validations";
    for (const auto* words : {&filter.projects, &filter.states}) {
        scope += "\n";
        for (const std::string& word : *words)
            scope += word + " ";
    }
    const Rows rows = read(store.pool(), queries::list_cross_validations,
                           {Param::or_null(filter.projects), Param::or_null(filter.states),
                            place_of(scope, page), rows_to_ask(page), page_bytes_max});
    return make_cut_page<CrossValidation>(rows, page, scope, read_cross_validation, place_of_id);
}

std::vector<UnfinishedCrossValidation> list_unfinished_cross_validations(Store& store) {
    std::vector<UnfinishedCrossValidation> found;
    for (const Row row : read(store.pool(), queries::list_unfinished_cross_validations))
        found.push_back({.id = row.text("id"),
                         .progress = row.text("progress"),
                         .created_by = row.text("created_by"),
                         .project = row.text("project")});
    return found;
}

std::vector<StoredFold> list_folds(Store& store, std::string_view id) {
    std::vector<StoredFold> folds;
    for (const Row row : read(store.pool(), queries::list_folds, {id}))
        folds.push_back(read_fold(row));
    return folds;
}

std::string training_key(std::int64_t fold) {
    return fold == StoredFold::refit ? "refit" : std::to_string(fold);
}

std::string prediction_key(std::int64_t fold) {
    return fmt::format("{}-oof", fold);
}

bool cancel_cross_validation(Store& store, std::string_view id, const Reason& reason) {
    const bool cancelled = write(store.pool(), queries::cancel_cross_validation,
                                 {id, reason.code, repaired_text(reason.message, 4000)})
                               .affected() > 0;
    if (cancelled) store.announce(id);
    return cancelled;
}

CrossValidation retry_folds(Store& store, std::string_view id, CrossValidationState seen,
                            std::span<const RetriedFold> folds) {
    CrossValidation stored = transact(store.pool(), [&](Transaction& transaction) {
        const auto moved = [] {
            return Error{ErrorCode::conflict,
                         "the cross-validation has just changed; send the request again"};
        };
        const Rows locked = transaction.run(queries::lock_cross_validation, {id});
        if (locked.empty() || locked[0].text("state") != to_string(seen)) throw moved();
        for (const RetriedFold& fold : folds) {
            const bool is_refit = fold.fold == StoredFold::refit;
            const Rows retried =
                is_refit ? transaction.run(queries::retry_refit, {id})
                         : transaction.run(queries::retry_fold,
                                           {id, fold.fold, fold.state, fold.has_trained});
            if (!is_refit && retried.empty()) throw moved();
        }
        return read_cross_validation(transaction
                                         .commit({{&queries::reopen_cross_validation, {id}},
                                                  {&queries::find_cross_validation, {id}}})
                                         .back()[0]);
    });
    store.announce(id);
    return stored;
}

bool delete_cross_validation(Store& store, std::string_view id) {
    if (!write(store.pool(), queries::delete_cross_validation, {id}).empty()) return true;
    const auto found = find_cross_validation(store, id);
    if (!found) return false;
    throw Error{ErrorCode::conflict,
                fmt::format("cross-validation {} is {}; cancel it, and delete it when it has ended",
                            id, to_string(found->state))};
}

bool begin_folds(Store& store, std::string_view id, const StoredSplit& split, std::int64_t repeats,
                 const FoldSizes& sizes, const LeaderTerm& term) {
    const bool begun = transact(store.pool(), [&](Transaction& transaction) {
        if (transaction.run(queries::begin_folds, {id, split.hash, repeats}).empty()) return false;
        transaction.run(queries::insert_folds, {id, sizes.train, sizes.val});
        check_leader_in(transaction, term);
        return true;
    });
    if (begun) store.announce(id);
    return begun;
}

void settle_folds(Store& store, std::string_view id, std::span<const FoldSettlement> settlements,
                  const LeaderTerm& term) {
    std::vector<Statement> statements;
    for (const FoldSettlement& one : settlements) {
        statements.push_back(
            {&queries::settle_fold,
             {id, one.fold, one.from, one.state, Param::or_null(repaired_text(one.reason, 4000)),
              Param::or_null(one.job_id), Param::or_null(one.prediction_id),
              Param::or_null(one.result)}});
    }
    if (statements.empty()) return;
    write_as_leader(store.pool(), term, std::move(statements));
    store.announce(id);
}

void claim_folds(Transaction& transaction, std::string_view id, const FoldClaim& claim,
                 const LeaderTerm& term) {
    const Rows locked = transaction.run(queries::lock_cross_validation, {id});
    if (locked.empty() || locked[0].text("state") != "running")
        throw Error{ErrorCode::conflict, "the cross-validation is no longer running"};
    if (!claim.train.empty())
        require_all(claim.train.size(), transaction.run(queries::claim_folds, {id, claim.train}));
    if (!claim.predict.empty()) {
        require_all(claim.predict.size(),
                    transaction.run(queries::claim_predictions, {id, claim.predict}));
    }
    if (claim.refit) require_all(1, transaction.run(queries::insert_refit, {id}));
    check_leader_in(transaction, term);
}

void keep_oof(Store& store, std::string_view id, const OofFile& file, std::string_view host,
              const LeaderTerm& term) {
    write_as_leader(store.pool(), term,
                    {{&queries::keep_oof, {id, file.rows, file.bytes, file.sha256, host}}});
}

void finish_cross_validation(Store& store, std::string_view id, CrossValidationState state,
                             const std::optional<Reason>& reason, const LeaderTerm& term) {
    std::optional<Reason> kept = reason;
    if (kept) kept->message = repaired_text(kept->message, 4000);
    write_as_leader(
        store.pool(), term,
        {{&queries::cancel_waiting_folds, {id, "the cross-validation ended before its turn"}},
         {&queries::finish_cross_validation,
          {id, to_string(state), reason_code(kept), reason_message(kept)}}});
    store.announce(id);
}

}    // namespace slipway::store
