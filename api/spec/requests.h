#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/dataset_format.h"
#include "api/spec/job_spec.h"
#include "api/spec/pixel_layout.h"
#include "api/spec/spelling.h"

namespace slipway {

// Bodies of requests other than the job spec, as plain data.

/// `options` of a dataset: how its files are to be read. Each format has some of them.
struct DatasetOptionsSpec {
    std::string label_column = "label";        ///< csv, image_csv, tfrecord: of classes
    std::vector<std::string> label_columns;    ///< likewise, of numbers; empty: labels are classes
    std::string group_column;                  ///< likewise; empty: no groups
    std::vector<std::string> feature_columns;    ///< csv, tfrecord; empty: all but label and group
    std::string image_column;                    ///< tfrecord; empty: "image", where there is one
    std::optional<PixelLayout> raw_pixels;       ///< tfrecord; absent: images are JPEG or PNG
    std::vector<std::int64_t> raw_shape;         ///< tfrecord: height, width, depth of all images
    std::vector<std::string> shape_columns;      ///< tfrecord; empty: height, width, depth
    std::string file_column = "file";            ///< image_csv
    std::string labels_file = "labels.csv";      ///< image_csv: the table, below the folder
    std::vector<std::string> class_names;        ///< in the order of their numbers; empty: as found
    std::optional<std::int64_t> image_size;      ///< sets of images: side in pixels
    std::optional<std::int64_t> channels;        ///< sets of images: 1 gray, 3 RGB
    std::optional<TruncatedImages> truncated_images;    ///< sets of images; absent: fail
    std::vector<double> mean;                           ///< one, or one for each channel or column
    std::vector<double> std;
    bool operator==(const DatasetOptionsSpec&) const = default;
};

/// Where the files come from; exactly one is not empty.
struct DatasetSource {
    std::string path;        ///< below a folder that the operator allowed
    std::string upload;      ///< upl_…
    std::string filename;    ///< of an upload that is a single file; empty: as it was uploaded
    bool operator==(const DatasetSource&) const = default;
};

/// POST /v1/datasets.
struct DatasetCreate {
    std::string name;
    std::string project = "default";
    DatasetFormat format = DatasetFormat::idx;
    DatasetSource source;
    DatasetOptionsSpec options;
    bool operator==(const DatasetCreate&) const = default;
};

/// How a stored split divides its dataset.
enum class SplitMethod {
    fraction,
    kfold,
    stratified_kfold,
    group_kfold,
    stratified_group_kfold,
    leave_one_group_out,
    repeated_kfold,
    time_series
};

template <>
struct Spelling<SplitMethod> {
    static constexpr std::array<std::string_view, 8> words{"fraction",
                                                           "kfold",
                                                           "stratified_kfold",
                                                           "group_kfold",
                                                           "stratified_group_kfold",
                                                           "leave_one_group_out",
                                                           "repeated_kfold",
                                                           "time_series"};
};

/// Folds of a stored split, all repeats together.
inline constexpr std::int64_t split_folds_max = 1000;

/// POST /v1/datasets/{id}/splits. Each method has some of the fields.
struct SplitCreate {
    SplitMethod method = SplitMethod::kfold;
    double val_fraction = 0.1;    ///< fraction: in (0, 1)
    std::int64_t folds = 5;       ///< of each repeat
    std::int64_t repeats = 10;    ///< repeated_kfold
    /// The column of what must not be on both sides. Empty: the dataset's own where the method
    /// needs groups, none where it does not.
    std::string group_by = {};
    std::string stratify_by =
        {};    ///< the column of the classes, or `label`; empty: see the method
    std::int64_t seed = 0;
    bool operator==(const SplitCreate&) const = default;
};

/// POST /v1/uploads.
struct UploadCreate {
    std::int64_t size = 0;    ///< bytes
    std::string sha256;       ///< hexadecimal, lower case
    std::string filename;     ///< for people; empty: none
    bool operator==(const UploadCreate&) const = default;
};

/// `queue` of a PATCH.
struct QueuePatchBody {
    std::optional<QueueClass> job_class;    ///< on the wire `class`; only while queued
    std::optional<std::string> pool;        ///< only while queued
    bool operator==(const QueuePatchBody&) const = default;
};

/// PATCH /v1/jobs/{id}: absent means unchanged.
struct JobPatchBody {
    std::optional<std::string> name;
    std::optional<std::map<std::string, std::string>> labels;    ///< replaces all of them
    QueuePatchBody queue;
    bool operator==(const JobPatchBody&) const = default;
};

/// What a token may do; each role may do what the one before it may.
enum class TokenRole { viewer, editor, admin };

template <>
struct Spelling<TokenRole> {
    static constexpr std::array<std::string_view, 3> words{"viewer", "editor", "admin"};
};

/// POST /v1/tokens.
struct TokenCreate {
    std::string name;
    TokenRole role = TokenRole::viewer;
    std::vector<std::string> projects;    ///< empty: all, of a member's token all of the member's
    std::string member;                   ///< whose it is; empty: whose the maker's is
    std::optional<Instant> expires_at;
    bool operator==(const TokenCreate&) const = default;
};

/// PUT /v1/projects/{p}/members/{m}.
struct MemberPut {
    TokenRole role = TokenRole::viewer;
    bool operator==(const MemberPut&) const = default;
};

/// POST /v1/hosts/{h}/drain.
struct HostDrainRequest {
    std::string reason;
    bool operator==(const HostDrainRequest&) const = default;
};

/// PUT /v1/projects/{p}/groups/{g}.
struct GroupPut {
    std::int64_t limit = 1;
    bool operator==(const GroupPut&) const = default;
};

/// POST /v1/hosts/join-tokens.
struct JoinTokenCreate {
    std::string host;         ///< that it is for; empty: any
    std::int64_t uses = 1;    ///< hosts that may join with it
    std::int64_t expires_in_s = 3600;
    bool operator==(const JoinTokenCreate&) const = default;
};

/// POST /v1/queue/simulate: what if.
struct QueueSimulateBody {
    std::optional<JobSpec> job;             ///< this job were submitted
    std::string job_id;                     ///< or: this one of the queue
    std::optional<QueueClass> job_class;    ///< on the wire `class`: were of this class
    std::int64_t more_hosts = 0;            ///< and there were so many more hosts
    std::int64_t cores_per_host = 8;
    std::string pool;    ///< of them; empty: the default one
    bool operator==(const QueueSimulateBody&) const = default;
};

/// POST /v1/projects.
struct ProjectCreate {
    std::string name;
    double weight = 1;    ///< of its share of the cores: 0.01 to 1000
    bool operator==(const ProjectCreate&) const = default;
};

/// PATCH /v1/projects/{p}: absent means unchanged.
struct ProjectPatch {
    std::optional<double> weight;
    bool operator==(const ProjectPatch&) const = default;
};

/// PUT /v1/projects/{p}/quota: absent means none.
struct ProjectQuota {
    std::optional<QueueClass> class_max;    ///< null or absent: any
    std::optional<std::int64_t> cores;      ///< that its jobs may hold at a time
    bool operator==(const ProjectQuota&) const = default;
};

/// What a webhook may be told of. Spelled as on the wire.
enum class WebhookEvent {
    job_created,
    job_started,
    job_paused,
    job_resumed,
    job_requeued,
    job_ended
};

template <>
struct Spelling<WebhookEvent> {
    static constexpr std::array<std::string_view, 6> words{
        "job.created", "job.started", "job.paused", "job.resumed", "job.requeued", "job.ended"};
};

/// POST /v1/webhooks.
struct WebhookCreate {
    std::string url;
    std::string project = "default";
    std::vector<WebhookEvent> events{WebhookEvent::job_created,  WebhookEvent::job_started,
                                     WebhookEvent::job_paused,   WebhookEvent::job_resumed,
                                     WebhookEvent::job_requeued, WebhookEvent::job_ended};
    std::string description;
    bool operator==(const WebhookCreate&) const = default;
};

/// PATCH /v1/webhooks/{id}: absent means unchanged.
struct WebhookPatch {
    std::optional<std::string> url;
    std::optional<std::vector<WebhookEvent>> events;    ///< replaces all of them
    std::optional<std::string> description;
    std::optional<bool> enabled;
    bool rotate_secret = false;
    bool operator==(const WebhookPatch&) const = default;
};

/// POST /v1/sweeps/{id}/retry and /v1/cross-validations/{id}/retry.
struct RetryFailedBody {
    std::vector<std::string> codes;    ///< only what failed for these reasons; empty: everything
    bool operator==(const RetryFailedBody&) const = default;
};

/// POST /v1/login.
struct LoginRequest {
    std::string token;    ///< slp_…
    bool operator==(const LoginRequest&) const = default;
};

}    // namespace slipway
