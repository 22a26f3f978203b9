#include "api/spec/dataset_format.h"

namespace slipway {

std::vector<std::string_view> formats_with(bool DatasetFormatTraits::*trait) {
    std::vector<std::string_view> words;
    for (const std::string_view word : all_words<DatasetFormat>())
        if (traits(*parse_word<DatasetFormat>(word)).*trait) words.push_back(word);
    return words;
}

}    // namespace slipway
