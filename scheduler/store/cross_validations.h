#pragma once

#include <map>
#include <span>

#include "api/spec/job_state.h"
#include "scheduler/store/splits.h"
#include "scheduler/store/store.h"

namespace slipway::store {

enum class CrossValidationState { preparing, running, cancelling, succeeded, failed, cancelled };

std::string_view to_string(CrossValidationState state) noexcept;
bool has_ended(CrossValidationState state) noexcept;

/// The file of the out-of-fold predictions.
struct OofFile {
    std::int64_t rows = 0;
    std::int64_t bytes = 0;
    std::string sha256{};    ///< hexadecimal
};

/// One configuration trained on every fold of a split.
struct CrossValidation {
    std::string id{};    ///< cv_…
    std::string name{};
    std::string project{};
    std::map<std::string, std::string> labels{};
    CrossValidationState state = CrossValidationState::preparing;
    std::optional<Reason> reason{};
    JsonText spec{};    ///< the request, normalised
    std::string dataset_id{};
    std::string split_id{};
    std::string split_hash{};                             ///< empty until the split is ready
    std::int64_t repeats = 0;                             ///< of the split; 0 until then
    std::map<std::string, std::int64_t> fold_states{};    ///< number of folds by state
    std::string refit_job_id{};                           ///< empty: none, or it still trains
    std::optional<OofFile> oof{};
    std::string created_by{};
    Instant created_at{};
    std::optional<Instant> started_at{};
    std::optional<Instant> finished_at{};
};

/// `id` to `dataset_id` and `created_by` are taken. With `split`, the split that the dataset has of
/// an equal request is used, or this one is made; else the one named by `split_id`.
/// errors  not_found when dataset or split are gone; as create_split for `making_max`
CrossValidation create_cross_validation(Store& store, CrossValidation wanted,
                                        const std::optional<StoredSplit>& split,
                                        std::int64_t making_max = 0);

/// The split that create_cross_validation would use again; none when it would make one.
std::optional<std::string> find_equal_split(Store& store, std::string_view dataset_id,
                                            const JsonText& request);

std::optional<CrossValidation> find_cross_validation(Store& store, std::string_view id);

/// Every field narrows; an empty one does not.
struct CrossValidationFilter {
    std::vector<std::string> projects{};
    std::vector<std::string> states{};
};

/// Newest first.
Page<CrossValidation> list_cross_validations(Store& store, const CrossValidationFilter& filter,
                                             const PageRequest& page);

/// One that has not ended, and how far it is: the text changes when there may be something to do.
struct UnfinishedCrossValidation {
    std::string id{};
    std::string progress{};
    std::string created_by{};    ///< a token's id
    std::string project{};
};
/// Oldest first. Costs much less than looking at each.
std::vector<UnfinishedCrossValidation> list_unfinished_cross_validations(Store& store);

/// The job that works for a fold.
struct FoldJob {
    JobState state{};
    std::optional<Reason> reason{};
    JsonText result{};    ///< of the training: its last evaluation
};

struct StoredFold {
    static constexpr std::int64_t refit = -1;    ///< the training on all samples

    std::int64_t fold = 0;
    std::string state{};      ///< waiting, training, predicting, succeeded, failed, cancelled
    bool predicts = false;    ///< the job of its predictions was made
    std::string reason{};
    std::string job_id{};
    std::string prediction_id{};
    std::int64_t train_samples = 0;
    std::int64_t val_samples = 0;
    JsonText result{};    ///< the evaluation it is judged by; empty until it has trained
    std::optional<Instant> finished_at{};
    std::optional<FoldJob> training{};    ///< none: not made yet, or deleted
    std::optional<FoldJob> prediction{};
};

/// In their order; the training on all samples, if any, first.
std::vector<StoredFold> list_folds(Store& store, std::string_view id);

/// What parts of a cross-validation are called as keys of its jobs (JobParent).
std::string training_key(std::int64_t fold);
std::string prediction_key(std::int64_t fold);

/// It starts no more jobs; who asked for it is told why. False when it has ended or was cancelled
/// before.
bool cancel_cross_validation(Store& store, std::string_view id, const Reason& reason);

/// A fold to be tried again: `state` is the one that it was seen in, `has_trained` that only its
/// predictions are missing. StoredFold::refit: its training begins again.
struct RetriedFold {
    std::int64_t fold = 0;
    std::string state{};
    bool has_trained = false;
};
/// These folds wait again, and one that has ended goes on; all or nothing.
/// errors  throws conflict when it, or one of the folds, is no longer in the state that was seen
CrossValidation retry_folds(Store& store, std::string_view id, CrossValidationState seen,
                            std::span<const RetriedFold> folds);

/// Removes one that has ended, its folds and its file; its jobs are deleted before. False when
/// there is none; Error{conflict} when it has not ended.
bool delete_cross_validation(Store& store, std::string_view id);

// What the coordinator writes, as the leader. errors  throws LeaderReplaced

struct FoldSizes {
    std::vector<std::int64_t> train{};
    std::vector<std::int64_t> val{};
};

/// Its split is ready: preparing → running, with folds that wait. False, and nothing, when it is
/// no longer preparing.
bool begin_folds(Store& store, std::string_view id, const StoredSplit& split, std::int64_t repeats,
                 const FoldSizes& sizes, const LeaderTerm& term = {});

struct FoldSettlement {
    std::int64_t fold = 0;
    std::string from{};    ///< the state that it was in; another one: nothing is written
    std::string state{};
    std::string reason{};    ///< empty: none
    std::string job_id{};    ///< empty: as it is
    std::string prediction_id{};
    JsonText result{};
};

void settle_folds(Store& store, std::string_view id, std::span<const FoldSettlement> settlements,
                  const LeaderTerm& term = {});

/// Folds that get jobs, within the transaction of the jobs (SubmissionParts::also). What has been
/// claimed before, or a cross-validation that does not run, is Error{conflict}: nothing is stored.
struct FoldClaim {
    std::vector<int> train{};
    std::vector<int> predict{};
    bool refit = false;
};
void claim_folds(Transaction& transaction, std::string_view id, const FoldClaim& claim,
                 const LeaderTerm& term = {});

void keep_oof(Store& store, std::string_view id, const OofFile& file, std::string_view host,
              const LeaderTerm& term = {});

/// Its end; folds without a job are cancelled. Nothing when it has ended.
void finish_cross_validation(Store& store, std::string_view id, CrossValidationState state,
                             const std::optional<Reason>& reason, const LeaderTerm& term = {});

}    // namespace slipway::store
