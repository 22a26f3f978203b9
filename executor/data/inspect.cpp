// Every sample is read once, in parts side by side on threads; each part adds up its own
// findings, and parts are merged in the order of samples, so the report does not depend on the
// number of threads. Sums of bytes are whole numbers and therefore exact in any order. A problem
// does not end the reading: all are counted, the first ones are listed. Whatever a dataset can
// hold in millions (names, classes, columns) has a largest number in the report, with the full
// count beside it.
#include "executor/data/inspect.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <ranges>

#include "api/spec/unfit_data.h"
#include "executor/data/content_hash.h"
#include "executor/data/files.h"
#include "executor/data/formats/image_dataset.h"
#include "executor/data/formats/text.h"
#include "executor/data/moments.h"
#include "executor/data/names.h"
#include "executor/data/unread_files.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

/// Names and columns that a report lists: a table may have millions of either.
constexpr std::size_t listed_names_max = 1000;
constexpr std::size_t listed_columns_max = 10'000;

/// What one sample was found to be.
struct Finding {
    std::optional<DataProblem> problem;
    RunningMoments::Sample sums;
    std::int64_t values = 0;    ///< per channel
    std::int64_t height = 0;    ///< of an image, 0 for others
    std::int64_t width = 0;
    bool damaged = false;    ///< an image that jobs leave out or accept as it is
};

/// An image at its own size: an inspection asks for no common one. Sums of bytes are exact.
Finding read_image(const ImageDataset& images, std::int64_t sample) {
    const Image image = images.decode(sample);
    const auto channels = std::size_t(image.channels);
    const double area = double(image.height * image.width);
    std::array<std::uint64_t, 3> sums{}, squares{};
    for (std::size_t i = 0; i < image.pixels.size(); i += channels) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
            const std::uint64_t value = image.pixels[i + channel];
            sums[channel] += value;
            squares[channel] += value * value;
        }
    }
    Finding finding;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const double mean = double(sums[channel]) / area;
        finding.sums.mean.push_back(mean / 255);
        finding.sums.squares.push_back((double(squares[channel]) - mean * mean * area) /
                                       (255.0 * 255.0));
    }
    finding.values = image.height * image.width;
    finding.height = image.height;
    finding.width = image.width;
    return finding;
}

Finding read_sample(const Dataset& dataset, std::int64_t sample, bool tolerant) {
    try {
        if (const auto* images = dynamic_cast<const ImageDataset*>(&dataset)) {
            return read_image(*images, sample);
        }
        const auto channels = std::size_t(dataset.index().feature_dims[0]);
        std::vector<float> features(std::size_t(dataset.index().feature_count()));
        dataset.read(sample, features);
        return {{},
                RunningMoments::of(features, channels),
                std::int64_t(features.size() / channels),
                0,
                0,
                false};
    } catch (const DataError& error) {    // an inspection lists what is wrong and goes on
        Finding finding;
        finding.problem = error.problem();
        finding.damaged = tolerant && dynamic_cast<const ImageDataset*>(&dataset) != nullptr;
        return finding;
    }
}

/// Adds up findings in sample order.
class Totals {
public:
    void add(const Finding& finding, ProblemLog& problems) {
        if (finding.problem) return problems.add(*finding.problem);
        moments_.add(finding.sums, double(finding.values));
        ++read_;
        least_ = {std::min(least_[0], finding.height), std::min(least_[1], finding.width)};
        most_ = {std::max(most_[0], finding.height), std::max(most_[1], finding.width)};
    }

    void describe(const Dataset& dataset, Json& report) const {
        const Dims& dims = dataset.index().feature_dims;
        const auto* images = dynamic_cast<const ImageDataset*>(&dataset);
        report["image_sizes"] = nullptr;
        if (images != nullptr && read_ > 0) {
            report["image_sizes"] = {{"min", least_}, {"max", most_}};
        }
        const bool common = images == nullptr || images->resizes() || least_ == most_;
        report["feature_shape"] = common && !dims.empty() ? Json(dims) : Json();
        const Moments moments = read_ > 0 ? moments_.result() : Moments{};
        const bool listed = read_ > 0 && moments.mean.size() <= listed_columns_max;
        report["mean"] = listed ? Json(moments.mean) : Json();
        report["std"] = listed ? Json(moments.deviation) : Json();
    }

private:
    RunningMoments moments_;
    std::int64_t read_ = 0;
    std::array<std::int64_t, 2> least_{std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::max()};
    std::array<std::int64_t, 2> most_{0, 0};
};

/// `damaged` gets the images that jobs tolerate; null: they do not.
Totals read_everything(const Dataset& dataset, int threads, ProblemLog& problems,
                       ProblemLog* damaged) {
    constexpr std::int64_t block = 1024;    // bounds the memory for findings
    Totals totals;
    for (std::int64_t begin = 0; begin < dataset.size(); begin += block) {
        std::vector<Finding> findings(std::size_t(std::min(block, dataset.size() - begin)));
        parallel_for(std::int64_t(findings.size()), threads, [&](std::int64_t i) {
            findings[std::size_t(i)] = read_sample(dataset, begin + i, damaged != nullptr);
        });
        for (const Finding& finding : findings)
            totals.add(finding, finding.damaged ? *damaged : problems);
    }
    return totals;
}

Json counts_of(const std::vector<std::string>& names, const std::vector<std::int32_t>& numbers) {
    std::vector<std::int64_t> counts(names.size(), 0);
    for (const std::int32_t number : numbers)
        ++counts[std::size_t(number)];
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(names.size(), listed_names_max); ++i) {
        list.push_back({{"name", names[i]}, {"count", counts[i]}});
    }
    return list;
}

bool can_be_opened(const Folder& folder, const std::string& name) {
    try {
        folder.open(name);
        return true;
    } catch (const DataError&) {    // its problem has been listed when it was read
        return false;
    }
}

/// What cannot be opened, such as a link that leads nowhere, does not end the report.
void describe_files(const fs::path& path, std::vector<std::string> files, int threads,
                    const ProblemLog& problems, Json& report) {
    if (problems.total() > 0) {
        const Folder folder(fs::is_directory(path) ? path : path.parent_path() / ".");
        std::erase_if(files, [&](const auto& name) { return !can_be_opened(folder, name); });
    }
    const ContentHash content = hash_content(path, std::move(files), threads);
    report["bytes"] = content.bytes;
    report["content_hash"] = content.hash;
}

Json to_json(const DataProblem& problem) {
    return {{"file", problem.file},
            {"row", problem.row > 0 ? Json(problem.row) : Json()},
            {"field", problem.field.empty() ? Json() : Json(problem.field)},
            {"message", problem.message}};
}

Json to_json(const std::vector<DataProblem>& problems) {
    Json list = Json::array();
    for (const DataProblem& problem : problems)
        list.push_back(to_json(problem));
    return list;
}

Json empty_report() {
    return {{"samples", 0},
            {"classes", Json::array()},
            {"class_count", 0},
            {"labels", Json::array()},
            {"groups", Json::array()},
            {"group_count", 0},
            {"parts", Json::array()},
            {"part_count", 0},
            {"feature_shape", nullptr},
            {"image_sizes", nullptr},
            {"mean", nullptr},
            {"std", nullptr},
            {"columns", Json::array()},
            {"column_count", 0},
            {"text", nullptr},
            {"bytes", 0},
            {"content_hash", nullptr},
            {"damaged", nullptr},
            {"warnings", Json::array()},
            {"problems", Json::array()}};
}

/// What can be used, and will surprise.
Json warnings_of(std::string_view format, const DatasetIndex& index, const Json& report) {
    Json warnings = Json::array();
    const auto warn = [&](std::string message) {
        warnings.push_back(to_json(DataProblem{.message = std::move(message)}));
    };
    if (index.target_names.empty() && index.class_count() == 1)
        warn(one_class_message(index.class_names.front(), format));
    if (index.class_count() > 2 && index.class_count() == index.sample_count())
        warn(
            fmt::format("each of the {} samples has a class of its own; the labels are probably "
                        "numbers or ids",
                        index.sample_count()));
    for (const auto& [kind, names] :
         {std::pair("classes", &index.class_names), std::pair("groups", &index.group_names),
          std::pair("parts", &index.part_names)}) {
        if (auto message = look_alikes_message(kind, *names)) warn(std::move(*message));
    }
    const Json& sizes = report["image_sizes"];
    if (!sizes.is_null() && report["feature_shape"].is_null()) {
        const auto size = [&](const char* name) {
            return PixelSize{sizes[name][0].get<std::int64_t>(),
                             sizes[name][1].get<std::int64_t>()};
        };
        warn(mixed_sizes_message(size("min"), size("max")));
    }
    return warnings;
}

/// What a column of numbers holds. Its share is that of the samples that have the label, which a
/// column of anything but 0 to 1 does not say.
Json describe_target(const DatasetIndex& index, std::size_t column) {
    RunningMoments moments;
    float least = std::numeric_limits<float>::infinity();
    float most = -least;
    std::int64_t having = 0;
    for (std::size_t at = column; at < index.targets.size(); at += index.target_names.size()) {
        const float value = index.targets[at];
        moments.add({.mean = {double(value)}, .squares = {0}}, 1);
        least = std::min(least, value);
        most = std::max(most, value);
        having += value >= 0.5F;
    }
    Json label{{"name", index.target_names[column]},
               {"mean", nullptr},
               {"std", nullptr},
               {"min", nullptr},
               {"max", nullptr},
               {"share", nullptr}};
    if (index.sample_count() == 0) return label;
    const Moments found = moments.result();
    label["mean"] = found.mean[0];
    label["std"] = least == most ? 0.0F : found.deviation[0];
    label["min"] = least;
    label["max"] = most;
    if (least >= 0 && most <= 1) label["share"] = double(having) / double(index.sample_count());
    return label;
}

void describe_index(const DatasetIndex& index, Json& report) {
    report["samples"] = index.sample_count();
    if (index.target_names.empty()) {
        report["classes"] = counts_of(index.class_names, index.labels);
        report["class_count"] = index.class_names.size();
    }
    for (std::size_t column = 0; column < index.target_names.size(); ++column)
        report["labels"].push_back(describe_target(index, column));
    report["groups"] = counts_of(index.group_names, index.groups);
    report["group_count"] = index.group_names.size();
    report["parts"] = counts_of(index.part_names, index.parts);
    report["part_count"] = index.part_names.size();
    report["column_count"] = index.column_names.size();
    for (const std::string& name : index.column_names | std::views::take(listed_names_max))
        report["columns"].push_back(name);
}

Json to_json(const TextCounts& counts) {
    return {{"bytes", counts.bytes}, {"characters", counts.characters}, {"lines", counts.lines}};
}

/// Parts are read side by side, so a problem waits until all of them are. Gives the files.
std::vector<std::string> inspect_text(const fs::path& path, int threads, ProblemLog& problems,
                                      Json& report) {
    struct Found {
        std::string name;
        TextCounts counts;
        ProblemLog problems{ProblemLog::Mode::collect};
    };
    const Folder folder = text_folder(path);
    const std::vector<std::string> files = text_files(path);
    std::vector<Found> found(files.size());
    parallel_for(std::int64_t(files.size()), threads, [&](std::int64_t i) {
        Found& part = found[std::size_t(i)];
        const TextPart read = read_text_part(folder, files[std::size_t(i)], part.problems);
        part.name = read.name;
        part.counts = count_text(read.text);
    });
    TextCounts all;
    for (const Found& part : found) {
        for (const DataProblem& problem : part.problems.listed())
            problems.add(problem);
        if (files.size() > 1 && report["parts"].size() < listed_names_max) {
            report["parts"].push_back({{"name", part.name}, {"count", part.counts.lines}});
        }
        all.bytes += part.counts.bytes;
        all.characters += part.counts.characters;
        all.lines += part.counts.lines;
    }
    if (all.bytes == 0) {
        problems.add(
            {.file = files.front(),
             .message = files.size() == 1
                            ? "there is no text in it"
                            : "there is no text in any of the files, of which it is the first"});
    }
    report["part_count"] = files.size() > 1 ? files.size() : 0;
    report["samples"] = all.lines;
    report["text"] = to_json(all);
    std::vector<std::string> read = text_and_tokenizer_files(path);
    describe_files(path, read, threads, problems, report);
    return read;
}

std::vector<std::string> inspect_samples(std::string_view format, const fs::path& path,
                                         const DatasetOptions& options, int threads,
                                         ProblemLog& problems, Json& report) {
    DatasetOptions raw = options;    // its moments are to be found, not applied
    raw.mean.clear();
    raw.deviation.clear();
    raw.cache_bytes_max = 0;
    raw.truncated_images = TruncatedImages::fail;    // to be found, too
    const bool tolerant = options.truncated_images != TruncatedImages::fail;
    ProblemLog damaged(ProblemLog::Mode::collect);
    const std::unique_ptr<Dataset> dataset = open_dataset(format, path, raw, problems);
    describe_index(dataset->index(), report);
    read_everything(*dataset, threads, problems, tolerant ? &damaged : nullptr)
        .describe(*dataset, report);
    if (problems.total() == 0) report["warnings"] = warnings_of(format, dataset->index(), report);
    describe_files(path, dataset->files(), threads, problems, report);
    if (tolerant) {
        report["damaged"] = {{"count", damaged.total()}, {"images", to_json(damaged.listed())}};
    }
    return dataset->files();
}

}    // namespace

Json inspect_dataset(std::string_view format, const fs::path& path, const DatasetOptions& options,
                     int threads, const ContentMemory& memory) {
    ProblemLog problems(ProblemLog::Mode::collect);
    const Instant since = system_clock().now();
    Json report = empty_report();
    try {
        const std::vector<std::string> read =
            format == "text" ? inspect_text(path, threads, problems, report)
                             : inspect_samples(format, path, options, threads, problems, report);
        if (problems.total() == 0)
            keep_content_hash(path, read, report["content_hash"].get<std::string>(), memory, since);
        if (auto unread = unread_files(path, read, problems)) problems.warn(std::move(*unread));
    } catch (const DataError& error) {    // what cannot even be opened is a report too
        problems.add(error.problem());
    }
    for (const DataProblem& warning : problems.warnings())
        report["warnings"].push_back(to_json(warning));
    report["problems"] = to_json(problems.listed());
    report["problem_count"] = problems.total();
    return report;
}

}    // namespace slipway
