#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

enum class SplitState { making, ready, failed };

std::string_view to_string(SplitState state) noexcept;

/// A dataset divided for good. Its manifest is the file store/splits/<id>.json.
struct StoredSplit {
    std::string id{};    ///< spl_…
    std::string dataset_id{};
    JsonText request{};    ///< the body that it was asked for with, normalised
    SplitState state = SplitState::making;
    JsonText report{};         ///< counts and certificate; empty until ready, and in lists
    JsonText problems{};       ///< [{"file", "row", "field", "message"}]; empty unless failed
    std::int64_t folds = 0;    ///< of all repeats together; 0 until ready
    std::string hash{};        ///< of the manifest's bytes; empty until ready
    std::int64_t bytes = 0;    ///< of the manifest
    std::string created_by{};
    Instant created_at{};
    std::optional<Instant> made_at{};
};

/// State `making`. `id`, `dataset_id`, `request`, `created_by` are taken. Error{not_found} when the
/// dataset is gone.
/// `making_max`: splits of its project, and splits of its token, that may be made or wait for it at
/// a time; above it Error{exhausted}. 0: no limit.
StoredSplit create_split(Store& store, const StoredSplit& split, std::int64_t making_max = 0);

/// The same as a step of another transaction, and not announced.
void insert_split_in(Transaction& transaction, const StoredSplit& split, std::int64_t making_max);

/// The split that a cross-validation is to have: `make` or, when it is none, the one of this id.
struct SplitUse {
    std::string dataset_id{};
    std::string split_id{};
    std::optional<StoredSplit> make{};
};
/// The id of a split that stays until the transaction ends: the one that the dataset has of an
/// equal request, else a new one. errors  throws not_found when it is gone; as create_split
std::string use_split_in(Transaction& transaction, const SplitUse& use, std::int64_t making_max);

std::optional<StoredSplit> find_split(Store& store, std::string_view id);

/// Of one dataset, newest first, without reports.
Page<StoredSplit> list_splits(Store& store, std::string_view dataset_id, const PageRequest& page);

/// False when there is none; Error{conflict} while a job that has not ended uses it. Its manifest
/// becomes garbage.
bool delete_split(Store& store, std::string_view id);

/// The right to make one split, until it expires, and what it is made of.
struct SplitClaim {
    std::string id{};
    std::string fence{};
    JsonText request{};
    std::string dataset_id{};
    std::string project{};
    std::string format{};
    JsonText source{};
    JsonText options{};
    std::string content_hash{};
    bool dataset_failed = false;    ///< its check did: there is nothing to split
};

/// Takes a split that waits to be made, or whose making was not finished within its lease: the
/// oldest of the project that has the fewest being made. Nothing when there is none. A split of a
/// dataset that is being checked waits.
std::optional<SplitClaim> claim_split(Store& store, std::string_view host,
                                      std::chrono::milliseconds lease);

/// Keeps the claim alive. False when it was lost: stop making it.
bool renew_split(Store& store, std::string_view id, std::string_view fence,
                 std::chrono::milliseconds lease);

/// Gives the claim back, as if its lease had ended.
void release_split(Store& store, std::string_view id, std::string_view fence);

struct SplitResult {
    bool ready = false;
    JsonText report{};
    JsonText problems{};
    std::int64_t folds = 0;
    std::string hash{};
    std::int64_t bytes = 0;
};

/// Stores what was made. False when the claim was lost: nothing is stored.
bool finish_split(Store& store, std::string_view id, std::string_view fence,
                  const SplitResult& result);

}    // namespace slipway::store
