#include "scheduler/submission/dataset_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>

#include "scheduler/store/stored_json.h"

namespace slipway::submission {

namespace {

constexpr std::size_t shown_names_max = 20;

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

std::string name_of(const Json& one) {
    if (one.is_string()) return one.get<std::string>();
    return one.is_object() ? one.value("name", "") : std::string();
}

/// A list of the report, in which some may be missing.
std::vector<std::string> listed_in(const Json& report, const char* member) {
    std::vector<std::string> names;
    if (!report.is_object()) return names;
    const auto list = report.find(member);
    if (list == report.end() || !list->is_array()) return names;
    for (const Json& one : *list)
        names.push_back(name_of(one));
    return names;
}

/// The same; none when it is not there, empty or not complete.
std::optional<std::vector<std::string>> names_in(const store::Dataset& dataset, const char* member,
                                                 const char* count) {
    const auto report = report_of(dataset);
    std::vector<std::string> names = listed_in(*report, member);
    if (names.empty() || names.size() < report->value(count, std::size_t{0})) return std::nullopt;
    return names;
}

bool is_number(const std::string& text) {
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* end = text.data() + text.size();
    double value = 0;
    const auto [stop, problem] = std::from_chars(begin, end, value);
    return stop == end && problem != std::errc::invalid_argument;
}

std::optional<PixelSize> size_of(const Json& sizes, const char* name) {
    const auto found = sizes.find(name);
    const bool pair = found != sizes.end() && found->is_array() && found->size() == 2 &&
                      (*found)[0].is_number_integer() && (*found)[1].is_number_integer();
    if (!pair) return std::nullopt;
    return PixelSize{(*found)[0].get<std::int64_t>(), (*found)[1].get<std::int64_t>()};
}

}    // namespace

std::shared_ptr<const Json> report_of(const store::Dataset& dataset) {
    static LastReport last;
    return last.parse(dataset.report);
}

std::optional<std::vector<std::string>> class_names(const store::Dataset& dataset) {
    return names_in(dataset, "classes", "class_count");
}

std::optional<std::vector<std::string>> number_names(const store::Dataset& dataset) {
    return names_in(dataset, "labels", "");
}

std::optional<std::vector<std::string>> label_names(const store::Dataset& dataset) {
    auto names = class_names(dataset);
    return names ? names : number_names(dataset);
}

std::optional<std::string> word_among_classes(const store::Dataset& dataset) {
    const std::vector<std::string> names = listed_in(*report_of(dataset), "classes");
    const auto found = std::ranges::find_if_not(names, is_number);
    return found == names.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::vector<std::string>> column_names(const store::Dataset& dataset) {
    return names_in(dataset, "columns", "column_count");
}

std::optional<std::vector<std::int64_t>> sample_shape(const store::Dataset& dataset) {
    const auto report = report_of(dataset);
    if (!report->is_object()) return std::nullopt;
    const auto shape = report->find("feature_shape");
    if (shape == report->end() || !shape->is_array() || shape->empty() ||
        !std::ranges::all_of(*shape, [](const Json& one) { return one.is_number_integer(); }))
        return std::nullopt;
    return shape->get<std::vector<std::int64_t>>();
}

std::optional<ImageSizes> image_sizes(const store::Dataset& dataset) {
    const auto report = report_of(dataset);
    if (!report->is_object()) return std::nullopt;
    const auto sizes = report->find("image_sizes");
    if (sizes == report->end() || !sizes->is_object()) return std::nullopt;
    const auto least = size_of(*sizes, "min"), most = size_of(*sizes, "max");
    if (!least || !most) return std::nullopt;
    return ImageSizes{*least, *most};
}

std::string shown_names(const std::vector<std::string>& names) {
    const std::size_t count = std::min(names.size(), shown_names_max);
    return fmt::format("{}{}",
                       fmt::join(names.begin(), names.begin() + std::ptrdiff_t(count), ", "),
                       count < names.size() ? ", …" : "");
}

}    // namespace slipway::submission
