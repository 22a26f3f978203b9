#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto dataset_states = std::to_array<std::string_view>({"checking", "ready", "failed"});
constexpr auto split_states = std::to_array<std::string_view>({"making", "ready", "failed"});
constexpr auto core_states = std::to_array<std::string_view>({"free", "busy", "drained", "lost"});

const Object<Answer>& problem_table() {
    static const auto item =
        Object<Answer>("ProblemItem", "A problem with one field.")
            .open()
            .field("pointer", "JSON pointer of the field (RFC 6901); ?name for a query parameter.",
                   any_text, known)
            .field("code", "Machine-readable code: unknown_field, out_of_bounds, …", any_text,
                   known)
            .field("message", "Human-readable message: field, value, fix.", any_text, known)
            .field("allowed", "Allowed values.", List<Text>{any_text}, maybe);
    static const auto table =
        Object<Answer>("Problem", "Why a request was rejected (RFC 9457).")
            .open()
            .field("type", "Path of the description of the code.", any_text, known)
            .field("title", "Text of the status code.", any_text, known)
            .field("status", "Status code.", Integer{.min = 400, .max = 599}, known)
            .field("detail", "Human-readable explanation.", any_text, known)
            .field("code", "Machine-readable code.", any_text, known)
            .field("request_id", "Id of the request, as in the log.", any_text, known)
            .field("errors", "All invalid fields.", List<Nested<Answer>>{{&item}}, maybe);
    return table;
}

const Object<Answer>& checkpoint_answer_table() {
    static const auto file = Object<Answer>("CheckpointFile", "A file of a checkpoint.")
                                 .open()
                                 .field("name", "Name to download it by.", any_text, known)
                                 .field("bytes", "Size in bytes.", count, known)
                                 .field("sha256", "SHA-256 of the file.", any_text, known);
    static const auto metric =
        Object<Answer>("CheckpointMetric", "Metric that checkpoints are compared by.")
            .open()
            .field("name", "val_loss, …", any_text, known)
            .field("value", "Value of the metric.", Number{}, or_null)
            .field("nonfinite", "nan, inf or -inf if value is null.", any_text, maybe);
    static const auto writer =
        Object<Answer>("CheckpointWriter",
                       "The build that saved a checkpoint, and the version of its format.")
            .open()
            .field("program", "Program and version.", any_text, known)
            .field("build", "Hash of the program file.", any_text, known)
            .field("format", "Version of the format of the files.", count, known)
            .field("spec_version", "Version of the job spec.", count, known)
            .field("instruction_set",
                   "Instruction set of the processor that it was computed with; empty: not known.",
                   any_text, maybe);
    static const auto table =
        Object<Answer>("Checkpoint", "A checkpoint of a job.")
            .open()
            .field("id", "ckp_…", any_text, known)
            .field("job_id", "job_…", any_text, known)
            .field("attempt", "Attempt that saved it.", count, known)
            .field("name", "Name, such as step_000500_attempt_2.", any_text, known)
            .field("step", "Number of completed steps.", count, known)
            .field("epoch", "Epoch.", count, known)
            .field("kinds", "Why it is kept: last, best.", List<Text>{any_text}, known)
            .field("files", "Files of the checkpoint.", List<Nested<Answer>>{{&file}}, known)
            .field("bytes", "Total size in bytes.", count, known)
            .field("metric", "Metric that checkpoints are compared by.", Nested<Answer>{&metric},
                   or_null)
            .field("pinned", "True: it is never deleted automatically.", Flag{}, known)
            .field("created_at", "Time at which it was saved.", Time{}, known)
            .field("deleted_at", "Time at which its files were deleted.", Time{}, or_null)
            .field("written_by", "Build that saved it; null: unknown.", Nested<Answer>{&writer},
                   or_null);
    return table;
}

const Object<Answer>& dataset_answer_table() {
    static const auto table =
        Object<Answer>("Dataset", "A dataset.")
            .open()
            .field("id", "ds_…", any_text, known)
            .field("project", "Project that the dataset belongs to.", any_text, known)
            .field("name", "Name to use in jobs.", any_text, known)
            .field("format", "File format.", Choice<DatasetFormat>{}, known)
            .field("source", "Source of the files.", Nested<DatasetSource>{&dataset_source_table()},
                   known)
            .field("options", "Options for reading the files.",
                   Nested<DatasetOptionsSpec>{&dataset_options_table()}, known)
            .field("state", "checking, ready or failed.", Word{.allowed = dataset_states}, known)
            .field("report",
                   "Samples, classes, shapes; set when it is ready. Lists of datasets omit nested "
                   "lists and objects.",
                   AnyObject{}, or_null)
            .field("problems",
                   "File, row, field and message of each problem; set when it has failed. Lists of "
                   "datasets show only the first one.",
                   List<AnyObject>{}, or_null)
            .field("content_hash", "Hash of all file names and contents.", any_text, or_null)
            .field("bytes", "Total size in bytes.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of creation.", Time{}, known)
            .field("checked_at", "Time of the check.", Time{}, or_null);
    return table;
}

const Object<Answer>& preview_item_table() {
    static const auto table =
        Object<Answer>("PreviewSample", "A sample of a dataset; for text, a file.")
            .open()
            .field("sample", "Index of the sample in the dataset, from 0.", count, known)
            .field("file", "File of the sample.", any_text, known)
            .field("row", "Line of a table or item of a file, from 1.", count, or_null)
            .field("part", "Named part that it belongs to.", any_text, or_null)
            .field("class", "Class label.", any_text, or_null)
            .field("labels", "Numeric labels by name.", AnyObject{}, or_null)
            .field("group", "Group that it belongs to.", any_text, or_null)
            .field(
                "shape",
                "Shape of the features: [channels, height, width] or [columns]; for text, [bytes].",
                List<Integer>{}, or_null)
            .field("image", "JPEG of at most 96 pixels per side, as a data URL.", any_text, or_null)
            .field("values", "First 64 feature values, if it is not an image.", List<Number>{},
                   or_null)
            .field("text", "First 500 characters, for text.", any_text, or_null)
            .field("problem", "Why it cannot be shown.", any_text, or_null);
    return table;
}

const Object<Answer>& preview_table() {
    static const auto table =
        Object<Answer>("DatasetPreview", "A few samples of a dataset.")
            .open()
            .field("samples", "Number of samples in the dataset; for text, number of lines.", count,
                   known)
            .field("columns", "Feature names, for a table.", List<Text>{{.min = 0}}, known)
            .field("items", "Samples spread evenly over the dataset, from the first one on.",
                   List<Nested<Answer>>{{&preview_item_table()}}, known);
    return table;
}

const Object<Answer>& split_answer_table() {
    static const auto table =
        Object<Answer>("Split", "A stored split of a dataset, which never changes.")
            .open()
            .field("id", "spl_…", any_text, known)
            .field("dataset_id", "Id of the dataset.", any_text, known)
            .field("request", "Request that created it.",
                   Nested<SplitCreate>{&split_create_table()}, known)
            .field("state", "making, ready or failed.", Word{.allowed = split_states}, known)
            .field("report",
                   "Counts per fold and the certificate; set when it is ready. Lists omit it.",
                   AnyObject{}, or_null)
            .field("problems", "Problems; set when it has failed.", List<AnyObject>{}, or_null)
            .field("folds", "Number of folds over all repeats.", count, or_null)
            .field("hash", "Hash of the manifest.", any_text, or_null)
            .field("bytes", "Size of the manifest in bytes.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of the request.", Time{}, known)
            .field("made_at", "Time at which it was ready.", Time{}, or_null);
    return table;
}

const Object<Answer>& upload_answer_table() {
    static const auto table =
        Object<Answer>("Upload", "An upload in progress or completed.")
            .open()
            .field("id", "upl_…", any_text, known)
            .field("filename", "Human-readable file name.", any_text, known)
            .field("size", "Expected size in bytes.", count, known)
            .field("sha256", "Expected SHA-256.", any_text, or_null)
            .field("received", "Bytes received; continue from here.", count, known)
            .field("complete", "True: all bytes were received and verified.", Flag{}, known)
            .field("created_at", "Time of creation.", Time{}, known)
            .field("expires_at", "Time at which the upload is deleted.", Time{}, known);
    return table;
}

const Object<Answer>& host_drain_table() {
    static const auto table =
        Object<Answer>("HostDrained", "Why a host accepts no new jobs.")
            .open()
            .field("reason", "Reason given when it was drained.", any_text, or_null)
            .field("at", "Time at which it was drained.", Time{}, known)
            .field("by", "tok_…", any_text, or_null);
    return table;
}

const Object<Answer>& host_table() {
    static const auto table =
        Object<Answer>("Host", "A host.")
            .open()
            .field("name", "Name of the host.", any_text, known)
            .field("pool", "Pool of the host, which jobs may name as queue.pool.", any_text, known)
            .field("cores", "Number of virtual cores.", count, known)
            .field("physical_cpus", "Number of CPUs.", count, known)
            .field("memory_bytes", "Memory in bytes.", count, known)
            .field("drained", "Cores that accept no new jobs.", List<Integer>{{.min = 1, .max = 8}},
                   known)
            .field("drain", "Set when the whole host accepts no new jobs.",
                   Nested<Answer>{&host_drain_table()}, or_null)
            .field("heartbeat_at", "Time of the last heartbeat.", Time{}, known)
            .field("silent_s", "Seconds since the last heartbeat.", Number{.min = 0}, known);
    return table;
}

const Object<Answer>& join_token_table() {
    static const auto table =
        Object<Answer>("IssuedJoinToken", "A new token that lets a host join.")
            .open()
            .field("id", "hjt_…", any_text, known)
            .field("host", "Host that it is for; null: any.", any_text, or_null)
            .field("uses", "Number of times that a host may join with it.", count, known)
            .field("expires_at", "Time of its end.", Time{}, known)
            .field("created_by", "tok_…; it ends together with this token.", any_text, known)
            .field("token", "Secret of the token; it is not shown again.", any_text, known);
    return table;
}

const Object<Answer>& audit_table() {
    static const auto table =
        Object<Answer>("AuditEntry", "An action in the audit log.")
            .open()
            .field("id", "Number of the entry.", count, known)
            .field("at", "Time of the action.", Time{}, known)
            .field("token_id", "Token that acted; null: unknown.", any_text, or_null)
            .field("action", "The action: the operationId of a request, or login_failed.", any_text,
                   known)
            .field("object", "Object of the action: an id or a name.", any_text, or_null)
            .field("request_id", "Request, as in the log.", any_text, or_null)
            .field("detail", "Details of the action.", AnyObject{}, known);
    return table;
}

const Object<Answer>& retention_table() {
    static const auto table =
        Object<Answer>("RetentionRule", "How long one kind of data of ended jobs is kept.")
            .open()
            .field("kind", "events, logs, metrics, checkpoints or jobs.", any_text, known)
            .field("days", "Days after the end of a job; null: forever.", count, or_null)
            .field("due_jobs",
                   "Number of jobs whose data of this kind would be removed now; at most 10,000 "
                   "are counted.",
                   count, known)
            .field("due_checkpoints", "Checkpoints that would be removed with them.", count, known)
            .field("due_bytes", "Bytes of these checkpoints.", count, known);
    return table;
}

const Object<Answer>& project_table() {
    static const auto table =
        Object<Answer>("Project", "A project.")
            .open()
            .field("name", "Name of the project.", any_text, known)
            .field("weight", "Weight of the project's share of the cores.", Number{.above = 0},
                   known)
            .field("quota", "Quota of the project.", Nested<ProjectQuota>{&project_quota_table()},
                   known)
            .field("usage_core_s",
                   "Core-seconds that the jobs of the project have used; each counts half after a "
                   "day.",
                   Number{.min = 0}, known)
            .field("cores_held", "Cores that the jobs of the project hold.", count, known)
            .field("queued_jobs", "Jobs of the project in the queue.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of creation.", Time{}, known);
    return table;
}

const Object<Answer>& member_table() {
    static const auto table =
        Object<Answer>("Member", "A member of a project.")
            .open()
            .field("project", "Name of the project.", any_text, known)
            .field("member", "Name of the member.", any_text, known)
            .field("role", "Role in this project: viewer, editor or admin.", Choice<TokenRole>{},
                   known)
            .field("changed_by", "Token that gave the role: tok_….", any_text, or_null)
            .field("created_at", "Time at which the member joined the project.", Time{}, known)
            .field("changed_at", "Time at which the role was given.", Time{}, known);
    return table;
}

const Object<Answer>& core_table() {
    static const auto table =
        Object<Answer>("Core", "A virtual core.")
            .open()
            .field("host", "Host of the core.", any_text, known)
            .field("pool", "Pool of the host.", any_text, known)
            .field("core", "Number of the core.", Integer{.min = 1, .max = 8}, known)
            .field("state", "free, busy, drained, or lost with its host.",
                   Word{.allowed = core_states}, known)
            .field("drained", "True: it, or its whole host, accepts no new jobs.", Flag{}, known)
            .field("drain_reason",
                   "Why the service drained the core, or would have if it were not the last one.",
                   any_text, or_null)
            .field("alive", "True: its host sends heartbeats.", Flag{}, known)
            .field("job_id", "Job that holds the core.", any_text, or_null)
            .field("attempt", "Attempt of that job.", count, or_null)
            .field("leased_at", "Start of the lease.", Time{}, or_null)
            .field("lease_expires_at", "Time at which the lease expires unless renewed.", Time{},
                   or_null);
    return table;
}

Object<Answer> token_like(std::string_view name, std::string_view summary) {
    return Object<Answer>(name, summary)
        .open()
        .field("id", "tok_…", any_text, known)
        .field("name", "Human-readable name.", any_text, known)
        .field("prefix", "Prefix of the secret, to recognise the token by.", any_text, known)
        .field("role", "Role: viewer, editor or admin.", Choice<TokenRole>{}, known)
        .field("projects",
               "Projects that the token may access; empty: all, or all those of its member.",
               List<Text>{any_text}, known)
        .field("member",
               "Member that the token belongs to; in each project it may do no more than the role "
               "of the member there permits.",
               any_text, or_null)
        .field("created_by", "tok_…", any_text, or_null)
        .field("created_at", "Time of creation.", Time{}, known)
        .field("expires_at", "Expiry time.", Time{}, or_null)
        .field("last_used_at", "Time of the last use, to the minute.", Time{}, or_null)
        .field("revoked_at", "Time of revocation.", Time{}, or_null);
}

const Object<Answer>& project_role_table() {
    static const auto table =
        Object<Answer>("ProjectRole", "What the caller may do in a project.")
            .open()
            .field("project", "Name of the project; null: every project.", any_text, or_null)
            .field("role", "viewer, editor or admin.", Choice<TokenRole>{}, known);
    return table;
}

const Object<Answer>& me_table() {
    static const auto table =
        Object<Answer>("Me", "Identity of the caller.")
            .open()
            .field("token_id", "tok_…", any_text, known)
            .field("name", "Name of the token.", any_text, known)
            .field("member", "Member that the token belongs to.", any_text, or_null)
            .field("role",
                   "Highest role in any project: viewer, editor or admin; null: the member has no "
                   "role in any.",
                   Choice<TokenRole>{}, or_null)
            .field("projects",
                   "Projects that the token may access; empty: all, unless `roles` is empty.",
                   List<Text>{any_text}, known)
            .field("roles", "Role in each project.", List<Nested<Answer>>{{&project_role_table()}},
                   known)
            .field("by_cookie", "True: authenticated by a session cookie.", Flag{}, known);
    return table;
}

const Object<Answer>& login_link_table() {
    static const auto table =
        Object<Answer>("LoginLink", "A one-time link that signs a browser in.")
            .open()
            .field("url", "URL to open.", any_text, known)
            .field("keep_s", "Lifetime of the link in seconds.", count, known);
    return table;
}

const Object<Answer>& capabilities_table() {
    static const List<AnyObject> objects;
    static const List<Text> words{any_text};
    static const auto table =
        Object<Answer>("Capabilities", "Capabilities of this version.")
            .open()
            .field("architectures", "Architectures and their parameters.", objects, known)
            .field("layers", "Layer types of layer-list models and their parameters.", objects,
                   known)
            .field("optimizers", "Optimizers and their parameters.", objects, known)
            .field("schedules", "Learning-rate schedules and their parameters.", objects, known)
            .field("augmentations", "Augmentation steps and their parameters.", objects, known)
            .field("formats", "Dataset formats and their options.", objects, known)
            .field("tasks", "Task types.", words, known)
            .field("losses", "Loss functions.", words, known)
            .field("metrics", "Metrics.", words, known)
            .field("precisions", "Precisions.", words, known)
            .field("lr_scalings", "Ways to scale the learning rate with the number of cores.",
                   words, known)
            .field("queue_classes", "Scheduling classes, most urgent first.", words, known)
            .field("accelerators", "Accelerators that a job can run on.", AnyObject{}, known)
            .field("version", "Version of the service.", any_text, known)
            .field("commit", "Commit that the service was built from.", any_text, known)
            .field("confinement", "Isolation of executors from the host: name, enforced, detail.",
                   objects, known)
            .field("limits",
                   "Limits per token, and for queued_jobs, checking_datasets and making_splits per "
                   "project as well; above them the answer is 429; 0: no limit. upload_bytes is "
                   "the maximum size of an upload. pool_max_wall_s has the limits.max_wall_s of "
                   "jobs that state no limit of time, by pool.",
                   AnyObject{}, known)
            .field("$defs", "Schemas that the parameters refer to.", AnyObject{}, known);
    return table;
}

/// An answer of one or two texts.
Object<Answer> webhook_like(std::string_view name, std::string_view summary) {
    return Object<Answer>(name, summary)
        .open()
        .field("id", "whk_…", any_text, known)
        .field("project", "Project whose jobs it reports.", any_text, known)
        .field("url", "URL that messages are posted to.", any_text, known)
        .field("events", "Events that are sent.", List<Choice<WebhookEvent>>{}, known)
        .field("description", "Description of its purpose.", any_text, known)
        .field("enabled", "false: nothing is sent.", Flag{}, known)
        .field("created_by", "tok_…", any_text, known)
        .field("url_set_by", "tok_…; nothing is sent once this token is no longer valid.", any_text,
               known)
        .field("previous_secret_until",
               "Until this time, messages are also signed with the previous secret.", Time{},
               or_null)
        .field("created_at", "Time of creation.", Time{}, known);
}

const Object<Answer>& webhook_delivery_table() {
    static const auto table =
        Object<Answer>("WebhookDelivery", "A message of a webhook, and whether it was accepted.")
            .open()
            .field("id", "dlv_…, the Webhook-Id of the message.", any_text, known)
            .field("webhook_id", "whk_…", any_text, known)
            .field("type",
                   "Event of the message, such as job.ended; webhook.test for a test message.",
                   any_text, known)
            .field("state",
                   "pending: it is sent, or waits for its next attempt; delivered; failed.",
                   any_text, known)
            .field("attempts", "Number of attempts to send it.", count, known)
            .field("status", "Last status that the receiver answered.", count, or_null)
            .field("error", "What went wrong with the last attempt.", any_text, or_null)
            .field("duration_s", "Duration of the last attempt in seconds.", Number{.min = 0},
                   or_null)
            .field("redelivery_of", "Delivery that this one repeats.", any_text, or_null)
            .field("next_attempt_at", "Time of the next attempt, while it is pending.", Time{},
                   or_null)
            .field("created_at", "Time of creation.", Time{}, known)
            .field("ended_at", "Time at which it was delivered, or failed for the last time.",
                   Time{}, or_null)
            .field("body", "Body of the message.", AnyObject{}, known);
    return table;
}

Object<Answer> texts(std::string_view name, std::string_view summary,
                     std::vector<std::pair<std::string_view, std::string_view>> fields) {
    Object<Answer> table(name, summary);
    table.open();
    for (const auto& [field, meaning] : fields)
        table.field(field, meaning, any_text, known);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> other_answer_tables() {
    static const auto token = token_like("Token", "A token, without its secret.");
    static const auto issued =
        token_like("IssuedToken", "A new token.")
            .field("token", "Secret of the token; it is not shown again.", any_text, known);
    static const auto webhook = webhook_like("Webhook", "A webhook, without its secret.");
    static const auto issued_webhook =
        webhook_like("IssuedWebhook", "A new webhook.")
            .field("secret", "Secret that its messages are signed with; it is not shown again.",
                   any_text, known);
    static const auto changed_webhook =
        webhook_like("ChangedWebhook", "A webhook that was changed.")
            .field("secret", "New secret, if there is one; it is not shown again.", any_text,
                   maybe);
    static const auto webhooks = page_of("WebhookList", webhook);
    static const auto deliveries = page_of("WebhookDeliveryList", webhook_delivery_table());
    static const auto health = texts("Health", "Liveness of the service.", {{"status", "ok."}});
    static const auto ready =
        texts("Readiness", "Readiness of the service.", {{"status", "ready."}});
    static const auto version = texts("Version", "Version of the service.",
                                      {{"version", "Version of the program."},
                                       {"commit", "Commit that it was built from."},
                                       {"api", "Version of the API."},
                                       {"host", "Host that responds."}});
    static const auto checkpoints = page_of("CheckpointList", checkpoint_answer_table());
    static const auto datasets = page_of("DatasetList", dataset_answer_table());
    static const auto splits = page_of("SplitList", split_answer_table());
    static const auto hosts = page_of("HostList", host_table());
    static const auto audit = page_of("AuditList", audit_table());
    static const auto retention = page_of("RetentionList", retention_table());
    static const auto projects = page_of("ProjectList", project_table());
    static const auto members = page_of("MemberList", member_table());
    static const auto cores = page_of("CoreList", core_table());
    static const auto tokens = page_of("TokenList", token);
    static const std::vector<const ObjectTable*> all{&problem_table(),
                                                     &host_table(),
                                                     &join_token_table(),
                                                     &checkpoint_answer_table(),
                                                     &checkpoints,
                                                     &dataset_answer_table(),
                                                     &datasets,
                                                     &upload_answer_table(),
                                                     &split_answer_table(),
                                                     &splits,
                                                     &preview_table(),
                                                     &hosts,
                                                     &audit,
                                                     &retention,
                                                     &project_table(),
                                                     &member_table(),
                                                     &members,
                                                     &project_role_table(),
                                                     &projects,
                                                     &core_table(),
                                                     &cores,
                                                     &tokens,
                                                     &issued,
                                                     &me_table(),
                                                     &login_link_table(),
                                                     &health,
                                                     &ready,
                                                     &version,
                                                     &capabilities_table(),
                                                     &webhook,
                                                     &issued_webhook,
                                                     &changed_webhook,
                                                     &webhooks,
                                                     &webhook_delivery_table(),
                                                     &deliveries};
    return all;
}

}    // namespace slipway
