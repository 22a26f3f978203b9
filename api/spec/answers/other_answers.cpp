#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto dataset_states = std::to_array<std::string_view>({"checking", "ready", "failed"});
constexpr auto split_states = std::to_array<std::string_view>({"making", "ready", "failed"});
constexpr auto core_states = std::to_array<std::string_view>({"free", "busy", "drained", "lost"});

const Object<Answer>& problem_table() {
    static const auto item =
        Object<Answer>("ProblemItem", "What is wrong with one field.")
            .open()
            .field("pointer", "The field (RFC 6901); ?name for a query parameter.", any_text, known)
            .field("code", "For programs: unknown_field, out_of_bounds, …", any_text, known)
            .field("message", "For people: field, value, fix.", any_text, known)
            .field("allowed", "What could stand there.", List<Text>{any_text}, maybe);
    static const auto table =
        Object<Answer>("Problem", "Why a request was refused (RFC 9457).")
            .open()
            .field("type", "about:blank.", any_text, known)
            .field("title", "The status in words.", any_text, known)
            .field("status", "The status.", Integer{.min = 400, .max = 599}, known)
            .field("detail", "For people.", any_text, known)
            .field("code", "For programs.", any_text, known)
            .field("request_id", "Finds the request in the log.", any_text, known)
            .field("errors", "Every field that is wrong.", List<Nested<Answer>>{{&item}}, maybe);
    return table;
}

const Object<Answer>& checkpoint_answer_table() {
    static const auto file = Object<Answer>("CheckpointFile", "One file of a checkpoint.")
                                 .open()
                                 .field("name", "Download it by this name.", any_text, known)
                                 .field("bytes", "Its size.", count, known)
                                 .field("sha256", "Of its bytes.", any_text, known);
    static const auto metric =
        Object<Answer>("CheckpointMetric", "What it is judged by.")
            .open()
            .field("name", "val_loss, …", any_text, known)
            .field("value", "Its value.", Number{}, or_null)
            .field("nonfinite", "nan, inf or -inf, when value is null.", any_text, maybe);
    static const auto table =
        Object<Answer>("Checkpoint", "What a job saved.")
            .open()
            .field("id", "ckp_…", any_text, known)
            .field("job_id", "job_…", any_text, known)
            .field("attempt", "The attempt that saved it.", count, known)
            .field("name", "step_000500_attempt_2.", any_text, known)
            .field("step", "After so many steps.", count, known)
            .field("epoch", "In this epoch.", count, known)
            .field("kinds", "Why it is kept: last, best.", List<Text>{any_text}, known)
            .field("files", "Its files.", List<Nested<Answer>>{{&file}}, known)
            .field("bytes", "Of all files.", count, known)
            .field("metric", "What it is judged by.", Nested<Answer>{&metric}, or_null)
            .field("pinned", "Kept whatever happens.", Flag{}, known)
            .field("created_at", "When it was saved.", Time{}, known)
            .field("deleted_at", "When its files were given up.", Time{}, or_null);
    return table;
}

const Object<Answer>& dataset_answer_table() {
    static const auto table =
        Object<Answer>("Dataset", "A dataset.")
            .open()
            .field("id", "ds_…", any_text, known)
            .field("project", "What it belongs to.", any_text, known)
            .field("name", "What jobs call it.", any_text, known)
            .field("format", "How its files are laid out.", Choice<DatasetFormat>{}, known)
            .field("source", "Where its files come from.",
                   Nested<DatasetSource>{&dataset_source_table()}, known)
            .field("options", "How its files are read.",
                   Nested<DatasetOptionsSpec>{&dataset_options_table()}, known)
            .field("state", "checking, ready or failed.", Word{.allowed = dataset_states}, known)
            .field(
                "report",
                "Samples, classes, shapes; once it is ready. Lists of datasets leave out what is "
                "itself a list or an object.",
                AnyObject{}, or_null)
            .field("problems",
                   "File, row, field and message; once it has failed. Lists of datasets show the "
                   "first one.",
                   List<AnyObject>{}, or_null)
            .field("content_hash", "Of all names and bytes.", any_text, or_null)
            .field("bytes", "Of all files.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "When it was made.", Time{}, known)
            .field("checked_at", "When it was checked.", Time{}, or_null);
    return table;
}

const Object<Answer>& preview_item_table() {
    static const auto table =
        Object<Answer>("PreviewSample", "One sample to look at; of a text one file.")
            .open()
            .field("sample", "Its number in the dataset, from 0.", count, known)
            .field("file", "Where it is from.", any_text, known)
            .field("row", "Line of a table or item of a file, from 1.", count, or_null)
            .field("part", "The named part that it belongs to.", any_text, or_null)
            .field("class", "Its class.", any_text, or_null)
            .field("labels", "Its labels that are numbers, by name.", AnyObject{}, or_null)
            .field("group", "What it belongs together with.", any_text, or_null)
            .field("shape",
                   "Of its features: [channels, height, width] or [columns]; of a text "
                   "[bytes].",
                   List<Integer>{}, or_null)
            .field("image", "A JPEG of at most 96 pixels a side as a data URL.", any_text, or_null)
            .field("values", "The first 64 of its features, where they are no image.",
                   List<Number>{}, or_null)
            .field("text", "The first 500 characters of a text.", any_text, or_null)
            .field("problem", "Why it cannot be shown.", any_text, or_null);
    return table;
}

const Object<Answer>& preview_table() {
    static const auto table =
        Object<Answer>("DatasetPreview", "Some samples of a dataset.")
            .open()
            .field("samples", "How many the dataset has; of a text its lines.", count, known)
            .field("columns", "The features' names, of a table.", List<Text>{{.min = 0}}, known)
            .field("items", "Spread over the dataset: the first, one in the middle, ….",
                   List<Nested<Answer>>{{&preview_item_table()}}, known);
    return table;
}

const Object<Answer>& split_answer_table() {
    static const auto table =
        Object<Answer>("Split", "A dataset divided for good.")
            .open()
            .field("id", "spl_….", any_text, known)
            .field("dataset_id", "The dataset.", any_text, known)
            .field("request", "How it was asked for.", Nested<SplitCreate>{&split_create_table()},
                   known)
            .field("state", "making, ready or failed.", Word{.allowed = split_states}, known)
            .field("report",
                   "Counts of each fold and the certificate; once it is ready, and not "
                   "in lists.",
                   AnyObject{}, or_null)
            .field("problems", "What is wrong; once it has failed.", List<AnyObject>{}, or_null)
            .field("folds", "How many, of all repeats together.", count, or_null)
            .field("hash", "Of the manifest.", any_text, or_null)
            .field("bytes", "Of the manifest.", count, known)
            .field("created_by", "tok_….", any_text, or_null)
            .field("created_at", "When it was asked for.", Time{}, known)
            .field("made_at", "When it was made.", Time{}, or_null);
    return table;
}

const Object<Answer>& upload_answer_table() {
    static const auto table =
        Object<Answer>("Upload", "A file on its way in.")
            .open()
            .field("id", "upl_…", any_text, known)
            .field("filename", "For people.", any_text, known)
            .field("size", "Bytes to come in all.", count, known)
            .field("sha256", "As announced.", any_text, or_null)
            .field("received", "Bytes that are here; go on from there.", count, known)
            .field("complete", "All of it is here and checked.", Flag{}, known)
            .field("created_at", "When it was announced.", Time{}, known)
            .field("expires_at", "When it is forgotten.", Time{}, known);
    return table;
}

const Object<Answer>& host_table() {
    static const auto table =
        Object<Answer>("Host", "A machine.")
            .open()
            .field("name", "Its name.", any_text, known)
            .field("cores", "Virtual cores it offers.", count, known)
            .field("physical_cpus", "CPUs it has.", count, known)
            .field("memory_bytes", "Memory it has.", count, known)
            .field("drained", "Cores that take no new job.", List<Integer>{{.min = 1, .max = 8}},
                   known)
            .field("heartbeat_at", "When it was last heard of.", Time{}, known)
            .field("silent_s", "Seconds since then.", Number{.min = 0}, known);
    return table;
}

const Object<Answer>& core_table() {
    static const auto table =
        Object<Answer>("Core", "A virtual core.")
            .open()
            .field("host", "Its machine.", any_text, known)
            .field("core", "Its number.", Integer{.min = 1, .max = 8}, known)
            .field("state", "free, busy, drained, or lost with its machine.",
                   Word{.allowed = core_states}, known)
            .field("drained", "It takes no new job.", Flag{}, known)
            .field("alive", "Its machine is heard of.", Flag{}, known)
            .field("job_id", "The job that holds it.", any_text, or_null)
            .field("attempt", "That job's attempt.", count, or_null)
            .field("leased_at", "Since when.", Time{}, or_null)
            .field("lease_expires_at", "Until when, if nobody renews it.", Time{}, or_null);
    return table;
}

const Object<Answer>& queued_table() {
    static const auto table =
        Object<Answer>("QueuedJob", "A job that waits.")
            .open()
            .field("position",
                   "1: the next one. Null: the job is held, or behind 1,000 ready jobs.", count,
                   or_null)
            .field("job_id", "job_…", any_text, known)
            .field("project", "What it belongs to.", any_text, known)
            .field("class", "How urgent it is.", Choice<QueueClass>{}, known)
            .field("cores", "How many cores it needs.", count, known)
            .field("core_id", "Which core it needs.", Integer{.min = 1, .max = 8}, or_null)
            .field("queued_at", "When it was submitted.", Time{}, known)
            .field("not_before", "It does not start earlier.", Time{}, or_null);
    return table;
}

Object<Answer> token_like(std::string_view name, std::string_view summary) {
    return Object<Answer>(name, summary)
        .open()
        .field("id", "tok_…", any_text, known)
        .field("name", "For people.", any_text, known)
        .field("prefix", "The part of its text that it is found by.", any_text, known)
        .field("role", "What it may do.", Choice<TokenRole>{}, known)
        .field("projects", "The projects it is for; empty: all.", List<Text>{any_text}, known)
        .field("created_by", "tok_…", any_text, or_null)
        .field("created_at", "When it was made.", Time{}, known)
        .field("expires_at", "When it ends by itself.", Time{}, or_null)
        .field("last_used_at", "To the minute.", Time{}, or_null)
        .field("revoked_at", "When it was ended.", Time{}, or_null);
}

const Object<Answer>& me_table() {
    static const auto table =
        Object<Answer>("Me", "Who asks.")
            .open()
            .field("token_id", "tok_…", any_text, known)
            .field("name", "Of the token.", any_text, known)
            .field("role", "What it may do.", Choice<TokenRole>{}, known)
            .field("projects", "The projects it is for; empty: all.", List<Text>{any_text}, known)
            .field("by_cookie", "Signed in with a browser.", Flag{}, known);
    return table;
}

const Object<Answer>& login_link_table() {
    static const auto table = Object<Answer>("LoginLink", "A link that signs a browser in once.")
                                  .open()
                                  .field("url", "Open it.", any_text, known)
                                  .field("keep_s", "How many seconds it is good.", count, known);
    return table;
}

const Object<Answer>& capabilities_table() {
    static const List<AnyObject> objects;
    static const List<Text> words{any_text};
    static const auto table =
        Object<Answer>("Capabilities", "What this version can do.")
            .open()
            .field("architectures", "Networks and their parameters.", objects, known)
            .field("layers", "Types of layers of a declared network and their parameters.", objects,
                   known)
            .field("optimizers", "Optimizers and their parameters.", objects, known)
            .field("schedules", "Schedules and their parameters.", objects, known)
            .field("augmentations", "Steps of data.augment and their parameters.", objects, known)
            .field("formats", "Layouts of datasets and their options.", objects, known)
            .field("tasks", "Kinds of tasks.", words, known)
            .field("losses", "What is made small.", words, known)
            .field("metrics", "What can be measured.", words, known)
            .field("precisions", "Kinds of arithmetic.", words, known)
            .field("lr_scalings", "How the learning rate follows the cores.", words, known)
            .field("queue_classes", "Most urgent first.", words, known)
            .field("accelerators", "What a job can run on.", AnyObject{}, known)
            .field("confinement",
                   "What executors are kept from on the service's machine: name, enforced, detail.",
                   objects, known)
            .field("limits",
                   "What a token (open_uploads, tokens) or a project (queued_jobs, "
                   "checking_datasets) may hold at a time, above it 429; 0 means no limit. "
                   "upload_bytes is the largest upload.",
                   AnyObject{}, known)
            .field("$defs", "Schemas that the parameters refer to.", AnyObject{}, known);
    return table;
}

/// An answer of one or two texts.
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
    static const auto token = token_like("Token", "A token, without its text.");
    static const auto issued =
        token_like("IssuedToken", "A new token.")
            .field("token", "Its text; it is not shown again.", any_text, known);
    static const auto health = texts("Health", "The process lives.", {{"status", "ok."}});
    static const auto ready = texts("Readiness", "The service can work.", {{"status", "ready."}});
    static const auto version = texts("Version", "What runs here.",
                                      {{"version", "Of the program."},
                                       {"api", "Of this contract."},
                                       {"host", "The machine that answers."}});
    static const auto checkpoints = page_of("CheckpointList", checkpoint_answer_table());
    static const auto datasets = page_of("DatasetList", dataset_answer_table());
    static const auto splits = page_of("SplitList", split_answer_table());
    static const auto hosts = page_of("HostList", host_table());
    static const auto cores = page_of("CoreList", core_table());
    static const auto queue = page_of("QueueList", queued_table());
    static const auto tokens = page_of("TokenList", token);
    static const std::vector<const ObjectTable*> all{&problem_table(),
                                                     &checkpoint_answer_table(),
                                                     &checkpoints,
                                                     &dataset_answer_table(),
                                                     &datasets,
                                                     &upload_answer_table(),
                                                     &split_answer_table(),
                                                     &splits,
                                                     &preview_table(),
                                                     &hosts,
                                                     &core_table(),
                                                     &cores,
                                                     &queue,
                                                     &tokens,
                                                     &issued,
                                                     &me_table(),
                                                     &login_link_table(),
                                                     &health,
                                                     &ready,
                                                     &version,
                                                     &capabilities_table()};
    return all;
}

}    // namespace slipway
