#include "scheduler/submission/data_fit_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/spec/dataset_format.h"
#include "api/spec/table/nearest.h"
#include "api/spec/unfit_data.h"
#include "scheduler/store/datasets.h"
#include "scheduler/submission/dataset_facts.h"

// The check of a dataset lists its columns, classes and shape; what a job asks of them is compared
// here, so that it does not wait in the queue for an answer that is known. What the check does not
// list (another label column than the dataset's own, a list of names that was cut off) the job
// itself finds out.
namespace slipway::submission {

namespace {

constexpr std::size_t columns_listed_max = 100;

/// mlp takes samples of any shape; a list of layers and an imported network say what they take.
bool needs_images(Arch arch) {
    return arch != Arch::mlp && arch != Arch::layers && arch != Arch::imported &&
           !language_task(arch);
}

/// Collects the problems of one job with one dataset.
class DataFit {
public:
    DataFit(const JobSpec& spec, const store::Dataset& dataset)
        : spec_(spec), dataset_(dataset), traits_(traits_of(dataset)) {}

    std::vector<Problem> run() && {
        check_sizes();
        check_shape();
        check_columns();
        check_labels();
        return std::move(problems_);
    }

private:
    static DatasetFormatTraits traits_of(const store::Dataset& dataset) {
        const auto format = parse_word<DatasetFormat>(dataset.format);
        return format ? traits(*format) : DatasetFormatTraits{};
    }

    void refuse(std::string pointer, std::string message) {
        problems_.push_back(
            {.pointer = std::move(pointer), .code = "inconsistent", .message = std::move(message)});
    }
    void refuse_dataset(const std::string& why) {
        refuse("/data/dataset", "the dataset " + dataset_.name + " does not fit: " + why);
    }

    /// Images of several sizes, which nothing brings to one.
    void check_sizes() {
        const bool brought_to_one =
            spec_.data.image_size ||
            std::ranges::any_of(spec_.data.augment,
                                [](const AugmentSpec& step) { return !step.size.empty(); });
        // The dataset's own image_size gives it a shape.
        if (brought_to_one || sample_shape(dataset_)) return;
        const auto sizes = image_sizes(dataset_);
        if (sizes && sizes->least != sizes->most)
            refuse_dataset(mixed_sizes_message(sizes->least, sizes->most));
    }

    void check_shape() {
        const std::string_view arch = to_string(spec_.model.arch);
        const bool reads_text = language_task(spec_.model.arch).has_value();
        if (reads_text != (dataset_.format == "text"))
            return refuse(
                "/model/arch",
                fmt::format("model.arch {} reads {}, and the dataset {} is of the format "
                            "{}; use {}, or name another dataset",
                            arch, reads_text ? "text" : "images or tables", dataset_.name,
                            dataset_.format, reads_text ? "model.arch mlp" : "a language model"));
        const auto shape = sample_shape(dataset_);
        if (!needs_images(spec_.model.arch) || !shape || shape->size() != 1) return;
        refuse("/model/arch", fmt::format("model.arch {} needs images, and the samples of the "
                                          "dataset {} have {} numbers each; use model.arch mlp, or "
                                          "name a dataset of images",
                                          arch, dataset_.name, shape->front()));
    }

    void check_column(const std::string& pointer, const std::string& name,
                      const std::vector<std::string>& columns) {
        if (name.empty() || std::ranges::find(columns, name) != columns.end()) return;
        const std::vector<std::string_view> views(columns.begin(), columns.end());
        const auto meant = nearest(name, views);
        problems_.push_back(
            {.pointer = pointer,
             .code = "not_found",
             .message = fmt::format("the dataset {} has no column `{}`; {}", dataset_.name, name,
                                    meant ? fmt::format("did you mean `{}`?", *meant)
                                          : "it has " + shown_names(columns)),
             .allowed =
                 columns.size() <= columns_listed_max ? columns : std::vector<std::string>()});
    }

    void check_columns() {
        const std::string& group_by = spec_.data.split.group_by;
        if (!traits_.has_columns) {
            if (group_by.empty()) return;
            return refuse(
                "/data/split/group_by",
                fmt::format("a dataset of the format {} has no columns to group by; leave "
                            "data.split.group_by out",
                            dataset_.format));
        }
        const auto columns = column_names(dataset_);
        if (!columns) return;
        check_column("/data/split/group_by", group_by, *columns);
        if (!spec_.data.columns) return;
        check_column("/data/columns/label", spec_.data.columns->label, *columns);
        const auto check_each = [&](const char* field, const std::vector<std::string>& names) {
            for (std::size_t i = 0; i < names.size(); ++i)
                check_column(fmt::format("/data/columns/{}/{}", field, i), names[i], *columns);
        };
        check_each("labels", spec_.data.columns->labels);
        if (traits_.picks_features) check_each("features", spec_.data.columns->features);
    }

    bool has_own_labels() const {
        return !spec_.data.columns ||
               (spec_.data.columns->label.empty() && spec_.data.columns->labels.empty());
    }

    void check_labels() {
        const std::string_view type = to_string(spec_.task.type);
        if (!traits_.has_labels || language_task(spec_.model.arch)) return;
        if (spec_.task.type == TaskType::classification) {
            if (!has_own_labels()) return;
            if (const auto numbers = number_names(dataset_))
                return refuse(
                    "/task/type",
                    fmt::format("task.type {} needs labels that are classes, and those of "
                                "the dataset {} are the numbers of {}; name a column in "
                                "data.columns.label, or use multilabel or regression",
                                type, dataset_.name, shown_names(*numbers)));
            const auto classes = class_names(dataset_);
            if (classes && classes->size() == 1)
                refuse_dataset(one_class_message(classes->front(), dataset_.format));
            return;
        }
        if (!traits_.has_numbers)
            return refuse(
                "/task/type",
                fmt::format("task.type {} needs labels that are numbers, which are in "
                            "datasets of the formats {}; the dataset {} is of the format "
                            "{}",
                            type, fmt::join(formats_with(&DatasetFormatTraits::has_numbers), ", "),
                            dataset_.name, dataset_.format));
        if (!has_own_labels()) return;
        if (const auto word = word_among_classes(dataset_))
            refuse("/task/type",
                   fmt::format("task.type {} needs labels that are numbers, and the dataset {} has "
                               "the class {}; use classification, or name a column of numbers in "
                               "data.columns.label",
                               type, dataset_.name, *word));
    }

    const JobSpec& spec_;
    const store::Dataset& dataset_;
    const DatasetFormatTraits traits_;
    std::vector<Problem> problems_;
};

}    // namespace

std::vector<Problem> check_data_fit(const JobSpec& spec,
                                    const std::optional<store::Dataset>& dataset) {
    if (!dataset) return {};
    return DataFit(spec, *dataset).run();
}

}    // namespace slipway::submission
