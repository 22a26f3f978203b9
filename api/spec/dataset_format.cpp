#include "api/spec/dataset_format.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "api/base/letter_case.h"

namespace slipway {

std::vector<std::string_view> formats_with(bool DatasetFormatTraits::*trait) {
    std::vector<std::string_view> words;
    for (const std::string_view word : all_words<DatasetFormat>())
        if (traits(*parse_word<DatasetFormat>(word)).*trait) words.push_back(word);
    return words;
}

bool is_image_name(std::string_view name) {
    constexpr auto endings =
        std::to_array<std::string_view>({".jpg", ".jpeg", ".jpe", ".jfif", ".png"});
    const std::string lower = lower_case(std::filesystem::path(name).extension().string());
    return std::ranges::find(endings, lower) != endings.end();
}

}    // namespace slipway
