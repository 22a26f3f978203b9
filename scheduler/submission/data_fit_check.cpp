#include "scheduler/submission/data_fit_check.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/spec/unfit_data.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/stored_json.h"

namespace slipway::submission {

namespace {

/// The report of the last dataset that was asked for: a sweep's jobs name the same one, and parsing
/// a report takes as long as decoding a job. Safe from every thread.
class LastReport {
public:
    std::shared_ptr<const Json> parse(const store::JsonText& text) {
        const std::lock_guard lock(mutex_);
        if (!report_ || text_ != text) {
            report_ = std::make_shared<const Json>(store::stored_json(text));
            text_ = text;
        }
        return report_;
    }

private:
    std::mutex mutex_;
    // Guarded by mutex_:
    store::JsonText text_;
    std::shared_ptr<const Json> report_;
};

/// The one class that there is; none where there are more or labels are numbers.
std::optional<std::string> only_class(const Json& report) {
    const auto classes = report.find("classes");
    if (classes == report.end() || !classes->is_array() || classes->size() != 1) return {};
    const Json& only = classes->front();
    return only.is_object() ? std::optional(only.value("name", "")) : std::nullopt;
}

bool learns_classes(const JobSpec& spec) {
    const bool other_column = spec.data.columns && !spec.data.columns->label.empty();
    return spec.task.type == TaskType::classification && !other_column;
}

std::optional<PixelSize> size_of(const Json& sizes, const char* name) {
    const auto found = sizes.find(name);
    const bool pair = found != sizes.end() && found->is_array() && found->size() == 2 &&
                      (*found)[0].is_number_integer() && (*found)[1].is_number_integer();
    if (!pair) return std::nullopt;
    return PixelSize{(*found)[0].get<std::int64_t>(), (*found)[1].get<std::int64_t>()};
}

/// What is wrong with the sizes of the images; none where they are one, or are brought to one.
std::optional<std::string> mixed_sizes(const JobSpec& spec, const Json& report) {
    const bool brought_to_one =
        spec.data.image_size || std::ranges::any_of(spec.data.augment, [](const AugmentSpec& step) {
            return !step.size.empty();
        });
    const auto sizes = report.find("image_sizes");
    if (brought_to_one || sizes == report.end() || !sizes->is_object()) return {};
    // The dataset's own image_size gives it a shape.
    if (const auto shape = report.find("feature_shape"); shape != report.end() && !shape->is_null())
        return {};
    const auto least = size_of(*sizes, "min"), most = size_of(*sizes, "max");
    if (!least || !most || *least == *most) return {};
    return mixed_sizes_message(*least, *most);
}

}    // namespace

std::vector<Problem> check_data_fit(const JobSpec& spec,
                                    const std::optional<store::Dataset>& dataset) {
    if (!dataset) return {};
    static LastReport last;
    const std::shared_ptr<const Json> parsed = last.parse(dataset->report);
    const Json& report = *parsed;
    if (!report.is_object()) return {};
    std::vector<Problem> problems;
    const auto refuse = [&](const std::string& why) {
        problems.push_back({.pointer = "/data/dataset",
                            .code = "inconsistent",
                            .message = "the dataset " + dataset->name + " does not fit: " + why});
    };
    if (const auto only = only_class(report); only && learns_classes(spec))
        refuse(one_class_message(*only, dataset->format));
    if (const auto mixed = mixed_sizes(spec, report)) refuse(*mixed);
    return problems;
}

}    // namespace slipway::submission
