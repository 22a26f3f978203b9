#include "executor/predict/task_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>

#include "executor/predict/prediction_file.h"

namespace slipway {

namespace {

Tensor outputs_of(const Model& model, const BatchInputs& batch, ForwardPass& pass) {
    return model.forward(batch.features, pass);
}

/// A name for each output of the network.
std::vector<std::string> output_names(const JobSpec& spec, std::vector<std::string> names) {
    const auto outputs = std::size_t(spec.model.num_classes.value_or(std::int64_t(names.size())));
    while (names.size() < outputs)
        names.push_back(std::to_string(names.size()));
    return names;
}

std::vector<std::string> with_prefix(std::string_view prefix,
                                     const std::vector<std::string>& names) {
    std::vector<std::string> columns;
    for (const std::string& name : names)
        columns.push_back(fmt::format("{}{}", prefix, name));
    return columns;
}

/// On the host and in double: the likeliest class is that of the largest logit, as an evaluation
/// has it, also where shares round to the same number.
void append_classes(std::string& csv, std::span<const float> logits,
                    const std::vector<std::string>& names) {
    const bool is_number = std::ranges::none_of(logits, [](float x) { return std::isnan(x); });
    const auto likeliest = std::size_t(std::ranges::max_element(logits) - logits.begin());
    if (is_number) {
        csv += "," + csv_field(names[likeliest]);
        fmt::format_to(std::back_inserter(csv), ",{}", likeliest);
    } else {
        csv += ",,";
    }
    double sum = 0;
    for (const float logit : logits)
        sum += std::exp(double(logit) - double(logits[likeliest]));
    for (const float logit : logits)
        append_number(csv, float(std::exp(double(logit) - double(logits[likeliest])) / sum));
}

TaskColumns classification_columns(const JobSpec& spec, const std::vector<std::string>& names) {
    TaskColumns columns{
        .trace = outputs_of, .names = {"predicted", "predicted_index"}, .append = {}};
    const std::vector<std::string> outputs = output_names(spec, names);
    std::ranges::copy(with_prefix("p_", outputs), std::back_inserter(columns.names));
    columns.append = [outputs](std::string& csv, std::span<const float> row,
                               std::span<const std::byte>) { append_classes(csv, row, outputs); };
    return columns;
}

TaskColumns multilabel_columns(const JobSpec&, const std::vector<std::string>& names) {
    return {.trace = outputs_of,
            .names = with_prefix("p_", names),
            .append = [](std::string& csv, std::span<const float> row, std::span<const std::byte>) {
                for (const float logit : row)
                    append_number(csv, float(1 / (1 + std::exp(-double(logit)))));
            }};
}

TaskColumns regression_columns(const JobSpec&, const std::vector<std::string>& names) {
    return {.trace = outputs_of,
            .names = with_prefix("predicted_", names),
            .append = [](std::string& csv, std::span<const float> row, std::span<const std::byte>) {
                for (const float value : row)
                    append_number(csv, value);
            }};
}

/// Of each token its loss, then whether it is the likeliest: [n, 2 s]. Labels that count nothing
/// give 0 for both.
Tensor token_results(const Tensor& logits, const Tensor& labels) {
    const Tensor hits = convert(compare(argmax(logits), labels, Comparison::eq), DType::f32);
    return concatenate({cross_entropy(logits, labels), hits}, 1);
}

std::vector<std::int32_t> numbers_in(std::span<const std::byte> bytes) {
    std::vector<std::int32_t> numbers(bytes.size() / sizeof(std::int32_t));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int32_t));
    return numbers;
}

/// `labels` are the tokens of the row's results, in their order.
void append_tokens(std::string& csv, std::span<const float> row,
                   std::span<const std::int32_t> labels) {
    const std::size_t length = row.size() / 2;
    check(labels.size() == length, "each token has a label");
    std::int64_t tokens = 0;
    double loss = 0, hits = 0;
    for (std::size_t i = 0; i < length; ++i) {
        if (labels[i] < 0) continue;
        ++tokens;
        loss += double(row[i]);
        hits += double(row[length + i]);
    }
    fmt::format_to(std::back_inserter(csv), ",{}", tokens);
    if (tokens == 0) {
        csv += ",,,";
        return;
    }
    append_number(csv, loss / double(tokens));
    append_number(csv, std::exp(loss / double(tokens)));
    append_number(csv, hits / double(tokens));
}

const std::vector<std::string> token_names{"tokens", "loss", "perplexity", "accuracy"};

TaskColumns causal_columns(const JobSpec&, const std::vector<std::string>&) {
    return {
        .trace =
            [](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                return token_results(model.forward(batch.features, pass), batch.labels);
            },
        .names = token_names,
        .append =
            [](std::string& csv, std::span<const float> row, std::span<const std::byte> labels) {
                append_tokens(csv, row, numbers_in(labels));
            }};
}

/// The samples' labels are positions, then the tokens there (executor/text/masked_samples.h).
Tensor row_of(const Tensor& labels, std::int64_t index) {
    const std::int64_t n = labels.dims()[0], count = labels.dims()[2];
    return reshape(slice(labels, {0, index, 0}, {n, index + 1, count}, {1, 1, 1}), {n, count});
}

TaskColumns masked_columns(const JobSpec&, const std::vector<std::string>&) {
    return {
        .trace =
            [](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                pass.positions = row_of(batch.labels, 0);
                return token_results(model.forward(batch.features, pass), row_of(batch.labels, 1));
            },
        .names = token_names,
        .append =
            [](std::string& csv, std::span<const float> row, std::span<const std::byte> labels) {
                const std::vector<std::int32_t> both = numbers_in(labels);
                append_tokens(csv, row, std::span(both).last(both.size() / 2));
            }};
}

struct ColumnsRow {
    TaskType type;
    TaskColumns (*make)(const JobSpec& spec, const std::vector<std::string>& names);
};

constexpr std::array columns_rows{
    ColumnsRow{TaskType::classification, classification_columns},
    ColumnsRow{TaskType::multilabel, multilabel_columns},
    ColumnsRow{TaskType::regression, regression_columns},
    ColumnsRow{TaskType::masked_lm, masked_columns},
    ColumnsRow{TaskType::causal_lm, causal_columns},
};
static_assert(columns_rows.size() == all_words<TaskType>().size());

}    // namespace

TaskColumns task_columns(const JobSpec& spec, const std::vector<std::string>& names) {
    const auto row = std::ranges::find(columns_rows, spec.task.type, &ColumnsRow::type);
    check(row != columns_rows.end(), "every task of the job spec has columns");
    return row->make(spec, names);
}

}    // namespace slipway
