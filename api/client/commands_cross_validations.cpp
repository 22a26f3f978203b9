#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/further.h"
#include "api/client/request_document.h"
#include "api/client/request_kind.h"
#include "api/client/status_line.h"
#include "api/client/watch_stream.h"

namespace slipway::client {
namespace {

constexpr const char* collection = "/v1/cross-validations";

std::string cross_validation_path(const std::string& id, const char* part = "") {
    return fmt::format("{}/{}{}", collection, percent_encode(id), part);
}

std::string fold_counts(const Json& one) {
    const Json& folds = one.at("folds");
    const Json& total = folds.at("total");
    const auto succeeded = folds.at("succeeded").get<std::int64_t>();
    return total.is_null() ? "–" : fmt::format("{}/{}", succeeded, total.get<std::int64_t>());
}

/// "0.4123 ± 0.0123": the mean and its error.
std::string mean_and_error(const Json& metric) {
    std::string text = cell(metric, "mean");
    if (!metric.at("standard_error").is_null()) text += " ± " + cell(metric, "standard_error");
    return text;
}

/// "running  3/5 folds  1 failed  val_accuracy 0.91 ± 0.01  val_loss 0.32 ± 0.02".
std::string watch_line(const Json& one, const Json& summary) {
    std::string line = fmt::format("{}  {} folds", cell(one, "state"), fold_counts(one));
    for (const char* state : {"training", "predicting", "failed", "cancelled"}) {
        const auto folds = one.at("folds").at(state).get<std::int64_t>();
        if (folds > 0) line += fmt::format("  {} {}", folds, state);
    }
    for (const Json& metric : summary.at("metrics"))
        line += fmt::format("  {} {}", cell(metric, "name"), mean_and_error(metric));
    return line;
}

bool has_ended(const Json& one) {
    const std::string state = text_of(one, "state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

ExitCode outcome_of(const Json& one) {
    const std::string state = text_of(one, "state");
    if (state == "succeeded") return ExitCode::ok;
    if (!one.at("reason").is_null())
        fmt::print(stderr, "{}: {}\n", cell(one.at("reason"), "code"),
                   cell(one.at("reason"), "message"));
    return state == "cancelled" ? ExitCode::cancelled : ExitCode::job_failed;
}

std::string whole_number(const Json& object, const char* name) {
    return object.at(name).is_null() ? "–" : object.at(name).dump();
}

}    // namespace

ExitCode create_cross_validation(const HttpClient& client, const CrossValidationOptions& options) {
    const Json made = post_document(
        client, std::string(collection) + (options.dry_run ? "?dry_run=true" : ""),
        request_document(options.file, options.changes, {}), RequestKind::cross_validation);
    if (options.dry_run) {
        fmt::print("{}\n", printable_text(made.dump(2)));
        return ExitCode::ok;
    }
    fmt::print("{}\n", cell(made, "id"));
    std::fflush(stdout);
    return options.watch ? watch_cross_validation(client, text_of(made, "id")) : ExitCode::ok;
}

ExitCode watch_cross_validation(const HttpClient& client, const std::string& id) {
    StatusLine line;
    Json one;
    watch_stream(client, cross_validation_path(id, "/events"), [&] {
        one = get(client, cross_validation_path(id));
        line.show(watch_line(one, get(client, cross_validation_path(id, "/summary"))));
        return has_ended(one);
    });
    line.end();
    const std::array commands{"cv summary " + id, "cv folds " + id};
    print_further(client, "cross-validation", commands, "cross-validations/" + id);
    return outcome_of(one);
}

Listing list_cross_validations(const HttpClient& client, const ListOptions& options) {
    std::string target = collection;
    if (!options.state.empty()) target += "?state=" + percent_encode(options.state);
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, target, std::size_t(options.limit));
    for (const Json& one : items) {
        rows.push_back({cell(one, "id"), cell(one, "name"), cell(one, "state"), fold_counts(one),
                        cell(one, "created_at").substr(0, 19)});
    }
    return {.head = {"id", "name", "state", "folds", "created"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode show_cross_validation(const HttpClient& client, const std::string& id) {
    fmt::print("{}\n", get(client, cross_validation_path(id)).dump(2));
    return ExitCode::ok;
}

Listing list_cross_validation_folds(const HttpClient& client, const std::string& id) {
    const Json items = get(client, cross_validation_path(id, "/folds")).at("items");
    std::vector<std::vector<std::string>> rows;
    for (const Json& fold : items) {
        std::string metrics;
        if (fold.at("metrics").is_object()) {
            for (const auto& [name, value] : fold.at("metrics").items())
                metrics += fmt::format("{}{} {}", metrics.empty() ? "" : "  ", name,
                                       cell(fold.at("metrics"), name.c_str()));
        }
        std::string groups = "–";
        if (fold.at("counts").is_object())
            groups = fmt::format("{}/{}", whole_number(fold.at("counts"), "train_groups"),
                                 whole_number(fold.at("counts"), "val_groups"));
        rows.push_back({whole_number(fold, "fold"), cell(fold, "state"),
                        whole_number(fold, "train_samples"), whole_number(fold, "val_samples"),
                        groups, cell(fold, "job_id"),
                        fold.at("reason").is_null() ? metrics : cell(fold, "reason")});
    }
    return {.head = {"fold", "state", "train", "val", "groups", "job", "result"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode print_cross_validation_summary(const HttpClient& client, const std::string& id,
                                        bool json) {
    const Json summary = get(client, cross_validation_path(id, "/summary"));
    if (json) {
        fmt::print("{}\n", summary.dump(2));
        return ExitCode::ok;
    }
    fmt::print("{}  {} folds{}\n", cell(summary, "state"), fold_counts(summary),
               summary.at("complete").get<bool>() ? "" : ", incomplete");
    std::vector<std::vector<std::string>> rows;
    for (const Json& metric : summary.at("metrics")) {
        rows.push_back({cell(metric, "name"), whole_number(metric, "folds"), cell(metric, "mean"),
                        cell(metric, "std"), cell(metric, "standard_error"),
                        cell(metric, "corrected_error"), cell(metric, "weighted_mean"),
                        cell(metric, "min"), cell(metric, "max")});
    }
    print_table({"metric", "folds", "mean", "std", "error", "corrected", "weighted", "min", "max"},
                rows);
    return ExitCode::ok;
}

ExitCode compare_cross_validations(const HttpClient& client, const std::string& first,
                                   const std::string& second, bool json) {
    const Json compared =
        get(client, cross_validation_path(first, "/compare?with=") + percent_encode(second));
    if (json) {
        fmt::print("{}\n", compared.dump(2));
        return ExitCode::ok;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Json& metric : compared.at("metrics")) {
        rows.push_back({cell(metric, "name"), whole_number(metric, "folds"),
                        cell(metric, "mean_difference"), cell(metric, "standard_error"),
                        fmt::format("{} to {}", cell(metric, "low"), cell(metric, "high")),
                        cell(metric, "p_value"),
                        fmt::format("{}:{}", whole_number(metric, "first_better"),
                                    whole_number(metric, "second_better"))});
    }
    fmt::print("second - first, over {}\n", counted(compared.at("folds").size(), "fold"));
    print_table({"metric", "folds", "difference", "error", "95 %", "p", "better"}, rows);
    return ExitCode::ok;
}

ExitCode fetch_oof(const HttpClient& client, const std::string& id, const std::string& out) {
    save_csv(client, cross_validation_path(id, "/oof"), out);
    if (!out.empty()) fmt::print("{}\n", out);
    return ExitCode::ok;
}

ExitCode predict_with_folds(const HttpClient& client, PredictOptions options) {
    const Json one = get(client, cross_validation_path(options.from));
    options.project = text_of(one, "project");
    const Json& train = one.at("spec").at("job").at("train");
    const bool stops_early =
        train.contains("early_stopping") && train["early_stopping"].is_object();
    if (options.checkpoint.empty()) options.checkpoint = stops_early ? "best" : "last";
    return predict(client, options);
}

ExitCode retry_folds(const HttpClient& client, const std::string& id, const RetryOptions& options) {
    return retry_failed(client, cross_validation_path(id), options, "fold", "fold");
}

ExitCode cancel_cross_validation(const HttpClient& client, const std::string& id) {
    const Json one = call(client, "POST", cross_validation_path(id, "/cancel"), Json::object());
    fmt::print("{} {}\n", id, cell(one, "state"));
    return ExitCode::ok;
}

ExitCode delete_cross_validation(const HttpClient& client, const std::string& id) {
    call(client, "DELETE", cross_validation_path(id), nullptr);
    fmt::print("{} deleted\n", id);
    return ExitCode::ok;
}

}    // namespace slipway::client
