#include "executor/predict/sample_columns.h"

#include <fmt/format.h>

#include "executor/predict/prediction_file.h"

namespace slipway {

SampleColumns::SampleColumns(const JobSpec& spec, const TrainData& data)
    : data_(data),
      files_(data.raw && data.raw->decodes_images()),
      parts_(data.text && !data.text->sequences.part_names.empty()),
      numbers_(data.raw && spec.task.type != TaskType::classification) {}

std::string SampleColumns::header() const {
    std::string text = "sample";
    if (files_) text += ",file";
    if (parts_) text += ",part";
    if (!data_.raw) return text;
    if (!numbers_) return text + ",label";
    for (const std::string& name : data_.label_names)
        text += "," + csv_field("label_" + name);
    return text;
}

void SampleColumns::append(std::string& csv, std::int64_t sample) const {
    csv += fmt::to_string(sample);
    if (files_) csv += "," + csv_field(data_.raw->place(sample).file);
    if (parts_) {
        const TokenSequences& rows = data_.text->sequences;
        csv += "," + csv_field(rows.part_names[std::size_t(rows.parts[std::size_t(sample)])]);
    }
    if (!data_.raw) return;
    if (!numbers_) {
        csv += "," + csv_field(data_.label_names[std::size_t(data_.raw->label(sample))]);
        return;
    }
    for (const float value : data_.raw->targets(sample))
        append_number(csv, value);
}

}    // namespace slipway
