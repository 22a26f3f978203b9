#pragma once

#include "scheduler/store/asked_at.h"
#include "scheduler/store/store.h"

namespace slipway::store {

enum class DatasetState { checking, ready, failed };

std::string_view to_string(DatasetState state) noexcept;

struct Dataset {
    std::string id{};    ///< ds_…
    std::string project{};
    std::string name{};    ///< unique within the project
    std::string format{};
    JsonText source{};     ///< {"path": …} or {"upload": …}
    JsonText options{};    ///< label_column, …
    DatasetState state = DatasetState::checking;
    JsonText report{};      ///< classes, counts, shapes; empty until ready
    JsonText problems{};    ///< [{"file", "row", "field", "message"}]; empty unless failed
    std::string content_hash{};
    std::int64_t bytes = 0;
    std::string created_by{};
    std::int64_t version = 1;
    Instant created_at{};
    std::optional<Instant> checked_at{};
};

struct NewDataset {
    std::string id{};
    std::string project = "default";
    std::string name{};
    std::string format{};
    JsonText source{};
    JsonText options{};
    std::string created_by{};
};

/// What new datasets may take; 0: no limit.
struct DatasetLimits {
    std::int64_t checking_max = 0;    ///< that wait for their check, of a project and of a token
    std::int64_t projects_max = 0;    ///< that were new when the token used them
    std::int64_t stored_max = 0;    ///< bytes of a project's uploads and what was unpacked of them
};

/// State `checking`. Error{conflict} when the project has one of this name that has not failed;
/// when the source is an upload ({"upload": id}) it is consumed: Error{not_found} / Error{conflict}
/// when it is unknown or not complete.
/// errors  exhausted above one of the limits
Dataset create_dataset(Store& store, const NewDataset& dataset, const DatasetLimits& limits = {});

/// By id.
std::optional<Dataset> find_dataset(Store& store, std::string_view id);

/// By id, or by name within the project. Failed ones do not hold their name: the newest of them is
/// found only when no other dataset has it.
std::optional<Dataset> find_dataset(Store& store, std::string_view project,
                                    std::string_view id_or_name, Tick asked_at = asked_now);

/// Some of its samples, to look at; empty when there are none or no such dataset.
JsonText find_dataset_preview(Store& store, std::string_view id);

struct DatasetFilter {
    std::vector<std::string> projects{};    ///< empty: all
    std::string format{};
    std::optional<DatasetState> state{};
    std::string name_contains{};    ///< in any case of letters; empty: all
};

/// Newest first.
Page<Dataset> list_datasets(Store& store, const DatasetFilter& filter, const PageRequest& page);

/// False when there is none; Error{conflict} while a job that has not ended uses it. Its folder
/// becomes garbage. It is gone at once and its name is free; its splits go later, and so do
/// the references of its jobs (see deleted_datasets.h).
bool delete_dataset(Store& store, std::string_view id);

/// The right to check one dataset, until it expires.
struct DatasetCheck {
    Dataset dataset{};
    std::string fence{};
};

/// Takes the oldest dataset that waits to be checked, or whose check was taken and not finished
/// within its lease. Nothing when there is none.
std::optional<DatasetCheck> claim_dataset_check(Store& store, std::string_view host,
                                                std::chrono::milliseconds lease);

/// Keeps the claim alive. False when it was lost: stop the check.
bool renew_dataset_check(Store& store, std::string_view id, std::string_view fence,
                         std::chrono::milliseconds lease);

/// Gives the claim back, as if its lease had ended.
void release_dataset_check(Store& store, std::string_view id, std::string_view fence);

struct DatasetCheckResult {
    bool ready = false;
    JsonText report{};
    JsonText problems{};
    std::string content_hash{};
    std::int64_t bytes = 0;
    JsonText preview{};
};

/// Stores what the check found; the file that the dataset was made from becomes garbage. Of the
/// jobs that wait for it, the first 500 may start, or fail with `data_error`, in the same
/// transaction; follow_checked_datasets does the rest. False when the claim was lost: nothing is
/// stored.
bool finish_dataset_check(Store& store, std::string_view id, std::string_view fence,
                          const DatasetCheckResult& result);

/// Lets jobs that still wait for a dataset whose check has ended start, or fail: 500 at once. True
/// when there may be more.
bool follow_checked_datasets(Store& store, const LeaderTerm& term = {});

/// A file on its way in; its bytes are at store/uploads/<id>.
struct Upload {
    std::string id{};    ///< upl_…
    std::string filename{};
    std::int64_t size = 0;
    std::string sha256{};    ///< expected, or empty
    std::int64_t received = 0;
    bool complete = false;
    std::string created_by{};
    Instant created_at{};
    Instant expires_at{};
    std::string host{};    ///< that receives the file, and removes it; taken by create_upload alone
};

/// What new uploads may take; 0: no limit.
struct UploadLimits {
    std::int64_t open_max = 0;      ///< of one token
    std::int64_t stored_max = 0;    ///< bytes of one token: uploads, and datasets made of uploads
    std::int64_t bytes = 0;         ///< free for everything that is announced and has not arrived
};

/// There is no room on the disk for what is announced (507 on the wire).
class NoRoom : public Error {
public:
    explicit NoRoom(const std::string& message) : Error(ErrorCode::exhausted, message) {}
};

/// `upload.id`, `filename`, `size`, `sha256`, `created_by`, `host` are taken; it expires after
/// `keep`.
/// errors  exhausted when its token has `limits.open_max` uploads open, or would have more than
///         `limits.stored_max` bytes; NoRoom when all that is
///         announced and has not arrived would be more than `limits.bytes`
Upload create_upload(Store& store, const Upload& upload, std::chrono::seconds keep,
                     const UploadLimits& limits = {});

std::optional<Upload> find_upload(Store& store, std::string_view id);

/// Those of `ids` that do not exist or have expired, by the database's clock.
std::vector<std::string> list_lost_uploads(Store& store, const std::vector<std::string>& ids);

/// Moves the offset from `from` to `to`; false when it is not at `from` any more, or complete.
bool advance_upload(Store& store, std::string_view id, std::int64_t from, std::int64_t to);

/// Marks it complete; false when bytes are missing or there is none.
bool complete_upload(Store& store, std::string_view id);

/// Its file becomes garbage. False when there is none; Error{conflict} when a job that has not
/// ended begins with it.
bool delete_upload(Store& store, std::string_view id);

}    // namespace slipway::store
