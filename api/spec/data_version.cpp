#include "api/spec/data_version.h"

namespace slipway {

namespace {

constexpr std::string_view hash_name = "sha256:";
constexpr std::size_t digits_min = 8;
constexpr std::size_t digits_max = 64;

std::string_view digits_of(std::string_view text) {
    if (text.starts_with(hash_name)) text.remove_prefix(hash_name.size());
    return text;
}

}    // namespace

bool is_data_version(std::string_view text) {
    const std::string_view digits = digits_of(text);
    return digits.size() >= digits_min && digits.size() <= digits_max &&
           digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_of_version(std::string_view content_hash, std::string_view version) {
    return digits_of(content_hash).starts_with(digits_of(version));
}

}    // namespace slipway
