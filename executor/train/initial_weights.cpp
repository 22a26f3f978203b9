#include "executor/train/initial_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "executor/checkpoint/checkpoint.h"
#include "executor/train/train_error.h"

// Tensors are taken out of the file one by one by the names of the network; what is left, and what
// was not found, decides whether the file fits. Names of older files (gamma, beta, a model without
// its prefix) are changed only where the name is unknown and its new name is free. A tensor that a
// file has twice because it was tied counts once.
namespace slipway {

namespace {

constexpr std::size_t names_shown_max = 10;

/// What a file holds.
struct FileTensors {
    std::vector<NamedArray> tensors;
    std::map<std::string, std::string> unread;    ///< as Safetensors::unread
};

/// Weights are f32 here, whatever they were stored as.
/// errors  TrainError data_error naming a value that f32 cannot hold, and one that is not finite
Array as_f32(const NamedArray& tensor, const std::string& file) {
    const DType dtype = tensor.array.shape().dtype;
    Array result = tensor.array;
    if (dtype == DType::bf16 || dtype == DType::f64)
        result = Array({DType::f32, tensor.array.shape().dims});
    if (dtype == DType::bf16)
        std::ranges::copy(tensor.array.as<BFloat16>(), result.as<float>().begin());
    if (dtype == DType::f64)
        std::ranges::transform(
            tensor.array.as<double>(), result.as<float>().begin(), [&](double value) {
                if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
                    throw TrainError("data_error",
                                     fmt::format("{}: tensor {} has the value {}, which f32 cannot "
                                                 "hold",
                                                 file, tensor.name, value));
                return static_cast<float>(value);
            });
    if (result.shape().dtype != DType::f32) return result;
    const auto values = std::as_const(result).as<float>();
    const auto found =
        std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
    if (found == values.end()) return result;
    throw TrainError("data_error", fmt::format("{}: tensor {} has the value {}; weights to start "
                                               "from must be finite",
                                               file, tensor.name, *found));
}

FileTensors read_tensors(const std::filesystem::path& from) {
    if (std::filesystem::is_directory(from)) {
        Result<Checkpoint> checkpoint = load_checkpoint(from);
        if (!checkpoint) {
            const bool of_another_build = checkpoint.error().code() == ErrorCode::invalid_argument;
            throw TrainError(of_another_build ? "checkpoint_incompatible" : "data_error",
                             checkpoint.error().what());
        }
        return {.tensors = std::move(checkpoint).value().weights, .unread = {}};
    }
    Result<Safetensors> file = read_safetensors(from);
    if (!file) throw TrainError("data_error", file.error().what());
    FileTensors found{.tensors = std::move(file->tensors), .unread = std::move(file->unread)};
    for (NamedArray& tensor : found.tensors)
        tensor.array = as_f32(tensor, from.filename().string());
    return found;
}

std::string listed(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), names_shown_max);
    std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
    if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

/// Every name that a tensor of the network may have in a file.
std::set<std::string> names_of(const ParameterList& parameters) {
    std::set<std::string> names(parameters.unused().begin(), parameters.unused().end());
    for (const auto* list : {&parameters.all(), &parameters.statistics()})
        for (const Parameter& parameter : *list)
            names.insert(parameter.name);
    for (const ParameterAlias& alias : parameters.aliases())
        names.insert(alias.name);
    return names;
}

/// "LayerNorm.gamma" -> "LayerNorm.weight": the oldest files come from a program that called scale
/// and offset of a norm so.
std::string with_todays_words(std::string name) {
    constexpr std::array words{std::pair{".gamma", ".weight"}, std::pair{".beta", ".bias"}};
    for (const auto& [old, todays] : words)
        if (name.ends_with(old))
            name.replace(name.size() - std::string_view(old).size(), std::string::npos, todays);
    return name;
}

/// Gives tensors that nobody knows the network's names, where those are free.
void rename_older(std::vector<NamedArray>& tensors, const Model& model) {
    if (model.base.empty()) return;
    const std::set<std::string> known = names_of(model.parameters);
    std::set<std::string> taken;
    for (const NamedArray& one : tensors)
        taken.insert(one.name);
    for (NamedArray& one : tensors) {
        if (known.contains(one.name)) continue;
        const std::string todays = with_todays_words(one.name);
        for (const std::string& name : {todays, model.base + "." + todays})
            if (known.contains(name) && taken.insert(name).second) {
                one.name = name;
                break;
            }
    }
}

/// Takes tensors out of a file, one by one.
class Source {
public:
    explicit Source(std::vector<NamedArray> tensors) {
        for (NamedArray& one : tensors) {
            order_.push_back(one.name);
            tensors_.emplace(one.name, std::move(one.array));
        }
    }

    /// Empty when there is none of this name and shape.
    Array take(const std::string& name, const Shape& shape) {
        const auto found = tensors_.find(name);
        if (found == tensors_.end() || found->second.shape() != shape) return {};
        Array array = std::move(found->second);
        tensors_.erase(found);
        return array;
    }
    bool drop(const std::string& name) { return tensors_.erase(name) > 0; }
    /// Drops a tensor that is `array` once more; another one stays.
    void drop_copy(const std::string& name, const Array& array) {
        const auto found = tensors_.find(name);
        if (found == tensors_.end() || found->second.shape() != array.shape()) return;
        const auto size = std::size_t(array.byte_count());
        if (std::memcmp(found->second.bytes(), array.bytes(), size) == 0) tensors_.erase(found);
    }

    /// What nobody took, with its shape.
    std::vector<std::string> left() const {
        std::vector<std::string> names;
        for (const std::string& name : order_) {
            const auto found = tensors_.find(name);
            if (found != tensors_.end())
                names.push_back(fmt::format("{} {}", name, to_string(found->second.shape())));
        }
        return names;
    }

private:
    std::vector<std::string> order_;
    std::map<std::string, Array> tensors_;
};

void require_fit(const LoadedWeights& weights, const std::filesystem::path& from, bool strict) {
    const bool fits = weights.missing.empty() && weights.skipped.empty();
    if (fits || (!strict && !weights.loaded.empty())) return;
    std::vector<std::string> differences;
    if (!weights.missing.empty()) differences.push_back("it lacks " + listed(weights.missing));
    if (!weights.skipped.empty()) differences.push_back("it has also " + listed(weights.skipped));
    if (weights.has_unread) differences.emplace_back("weights may be F32, F64, F16 or BF16");
    throw TrainError(
        "spec_error",
        fmt::format("{} does not fit this network: {}; set model.init.strict to false to load what "
                    "fits, or model.head.replace for another head",
                    from.filename().string(), fmt::join(differences, "; ")));
}

/// Rows of the head by the names of what they answer: a class of the file may have another number
/// here. A row whose name the file does not have keeps its initial values, and so do rows beyond
/// the names of both.
void order_head(Parameter& parameter, const Array& initial, const HeadNames& names,
                std::set<std::string>& unknown) {
    const Dims& dims = parameter.value.shape().dims;
    if (dims.empty() || dims[0] != names.outputs) return;
    const std::size_t row_bytes =
        std::size_t(parameter.value.byte_count()) / std::size_t(names.outputs);
    const Array loaded = std::exchange(parameter.value, initial.clone());
    for (std::size_t row = 0; row < std::size_t(names.outputs); ++row) {
        std::size_t from = row;
        if (row < names.here.size()) {
            const auto found = std::ranges::find(names.in_file, names.here[row]);
            if (found == names.in_file.end()) {
                unknown.insert(names.here[row]);
                continue;
            }
            from = std::size_t(found - names.in_file.begin());
        } else if (row < names.in_file.size()) {
            continue;
        }
        std::memcpy(parameter.value.bytes() + row * row_bytes, loaded.bytes() + from * row_bytes,
                    row_bytes);
    }
}

bool orders_head(const LoadOptions& options) {
    const HeadNames& names = options.names;
    return !options.replace_head && !names.in_file.empty() && !names.here.empty() &&
           names.in_file != names.here &&
           std::int64_t(std::max(names.in_file.size(), names.here.size())) <= names.outputs;
}

}    // namespace

LoadedWeights load_initial_weights(Model& model, const std::filesystem::path& from,
                                   const LoadOptions& options) {
    FileTensors file = read_tensors(from);
    rename_older(file.tensors, model);
    Source source(std::move(file.tensors));
    LoadedWeights result;
    std::set<std::string> unknown;
    const auto load = [&](Parameter& parameter) {
        const std::string& name = parameter.name;
        if (options.replace_head && name.starts_with(model.head + ".")) {
            source.drop(name);
            for (const ParameterAlias& alias : model.parameters.aliases())
                if (alias.parameter == name) source.drop(alias.name);
            result.replaced.push_back(name);
            return;
        }
        Array array = source.take(name, parameter.input.shape());
        for (const ParameterAlias& alias : model.parameters.aliases()) {
            if (alias.parameter != name) continue;
            if (array.empty()) array = source.take(alias.name, parameter.input.shape());
            if (!array.empty()) source.drop_copy(alias.name, array);
        }
        if (array.empty() && parameter.is_constant) return;    // files of weights leave it out
        if (array.empty()) {
            result.missing.push_back(
                fmt::format("{} {}", name, to_string(parameter.input.shape())));
            return;
        }
        const Array initial = std::exchange(parameter.value, std::move(array));
        if (orders_head(options) && name.starts_with(model.head + "."))
            order_head(parameter, initial, options.names, unknown);
        result.loaded.push_back(name);
    };
    for (Parameter& parameter : model.parameters.all())
        load(parameter);
    for (Parameter& statistic : model.parameters.statistics())
        load(statistic);
    for (BatchCount& count : model.parameters.batch_counts()) {
        const Array array = source.take(count.name, {DType::i64, {}});
        if (array.empty()) continue;
        count.value = array.as<std::int64_t>()[0];
        result.loaded.push_back(count.name);
    }
    for (const std::string& name : model.parameters.unused()) {
        source.drop(name);
        file.unread.erase(name);
    }
    result.skipped = source.left();
    for (const auto& [name, type] : file.unread)
        result.skipped.push_back(fmt::format("{} {}", name, type));
    result.has_unread = !file.unread.empty();
    result.head_ordered = orders_head(options);
    result.unknown.assign(unknown.begin(), unknown.end());
    require_fit(result, from, options.strict);
    return result;
}

std::string describe(const LoadedWeights& loaded, const std::filesystem::path& from) {
    std::string text =
        fmt::format("{} tensors loaded from {}", loaded.loaded.size(), from.filename().string());
    const auto add = [&text](const char* what, const std::vector<std::string>& names) {
        if (!names.empty()) text += fmt::format("; {}: {}", what, listed(names));
    };
    add("head replaced", loaded.replaced);
    if (loaded.head_ordered) text += "; the rows of the head are ordered by name";
    add("missing, drawn anew", loaded.missing);
    add("skipped", loaded.skipped);
    return text;
}

}    // namespace slipway
