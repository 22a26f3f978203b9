#include "executor/predict/task_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>

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
/// has it, also where shares round to the same number; of several networks that of the largest
/// mean. None when one of them is a NaN.
std::optional<std::size_t> likeliest_of(std::span<const OutputRow> rows,
                                        const CombinedOutputs& outputs) {
    const auto largest_in = [](const auto& numbers) -> std::optional<std::size_t> {
        if (std::ranges::any_of(numbers, [](auto x) { return std::isnan(x); })) return std::nullopt;
        return std::size_t(std::ranges::max_element(numbers) - numbers.begin());
    };
    return rows.size() == 1 ? largest_in(rows.front()) : largest_in(outputs.mean);
}

void append_classes(std::string& csv, std::span<const OutputRow> rows,
                    const std::vector<std::string>& names) {
    const CombinedOutputs outputs = combine(TaskType::classification, rows);
    const std::optional<std::size_t> likeliest = likeliest_of(rows, outputs);
    if (likeliest) {
        csv += "," + csv_field(names[*likeliest]);
        fmt::format_to(std::back_inserter(csv), ",{}", *likeliest);
    } else {
        csv += ",,";
    }
    for (const double share : outputs.mean)
        append_number(csv, float(share));
    if (rows.size() == 1) return;
    if (likeliest) {
        append_number(csv, float(outputs.deviation[*likeliest]));
    } else {
        csv += ',';
    }
}

TaskColumns classification_columns(const JobSpec& spec, const std::vector<std::string>& names,
                                   bool is_ensemble) {
    TaskColumns columns{
        .trace = outputs_of, .names = {"predicted", "predicted_index"}, .append = {}};
    const std::vector<std::string> outputs = output_names(spec, names);
    std::ranges::copy(with_prefix("p_", outputs), std::back_inserter(columns.names));
    if (is_ensemble) columns.names.push_back("std_predicted");
    columns.append = [outputs](std::string& csv, std::span<const OutputRow> rows,
                               std::span<const std::byte>) { append_classes(csv, rows, outputs); };
    return columns;
}

/// A number of each label, and of several networks its deviation.
TaskColumns label_columns(TaskType task, std::string_view prefix,
                          const std::vector<std::string>& names, bool is_ensemble) {
    TaskColumns columns{.trace = outputs_of, .names = with_prefix(prefix, names), .append = {}};
    if (is_ensemble)
        std::ranges::copy(with_prefix("std_", names), std::back_inserter(columns.names));
    columns.append = [task](std::string& csv, std::span<const OutputRow> rows,
                            std::span<const std::byte>) {
        const CombinedOutputs outputs = combine(task, rows);
        for (const double value : outputs.mean)
            append_number(csv, float(value));
        if (rows.size() == 1) return;
        for (const double deviation : outputs.deviation)
            append_number(csv, float(deviation));
    };
    return columns;
}

TaskColumns multilabel_columns(const JobSpec&, const std::vector<std::string>& names,
                               bool is_ensemble) {
    return label_columns(TaskType::multilabel, "p_", names, is_ensemble);
}

TaskColumns regression_columns(const JobSpec&, const std::vector<std::string>& names,
                               bool is_ensemble) {
    return label_columns(TaskType::regression, "predicted_", names, is_ensemble);
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

TaskColumns causal_columns(const JobSpec&, const std::vector<std::string>&, bool) {
    return {.trace =
                [](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                    return token_results(model.forward(batch.features, pass), batch.labels);
                },
            .names = token_names,
            .append =
                [](std::string& csv, std::span<const OutputRow> rows,
                   std::span<const std::byte> labels) {
                    append_tokens(csv, rows.front(), numbers_in(labels));
                }};
}

/// The samples' labels are positions, then the tokens there (executor/text/masked_samples.h).
Tensor row_of(const Tensor& labels, std::int64_t index) {
    const std::int64_t n = labels.dims()[0], count = labels.dims()[2];
    return reshape(slice(labels, {0, index, 0}, {n, index + 1, count}, {1, 1, 1}), {n, count});
}

TaskColumns masked_columns(const JobSpec&, const std::vector<std::string>&, bool) {
    return {.trace =
                [](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                    pass.positions = row_of(batch.labels, 0);
                    return token_results(model.forward(batch.features, pass),
                                         row_of(batch.labels, 1));
                },
            .names = token_names,
            .append =
                [](std::string& csv, std::span<const OutputRow> rows,
                   std::span<const std::byte> labels) {
                    const std::vector<std::int32_t> both = numbers_in(labels);
                    append_tokens(csv, rows.front(), std::span(both).last(both.size() / 2));
                }};
}

struct ColumnsRow {
    TaskType type;
    TaskColumns (*make)(const JobSpec& spec, const std::vector<std::string>& names,
                        bool is_ensemble);
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

TaskColumns task_columns(const JobSpec& spec, const std::vector<std::string>& names,
                         bool is_ensemble) {
    const auto row = std::ranges::find(columns_rows, spec.task.type, &ColumnsRow::type);
    check(row != columns_rows.end(), "every task of the job spec has columns");
    return row->make(spec, names, is_ensemble);
}

}    // namespace slipway
