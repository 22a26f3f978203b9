#include "executor/train/tasks/metric_labels.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace slipway {

namespace {

/// Where the character after the one at `begin` begins.
std::size_t end_of_character(std::string_view text, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
        ++end;
    return end;
}

/// Letters of other scripts stay: any two Cyrillic words of one length would be one.
bool stays(std::string_view character) {
    const char c = character[0];
    if (static_cast<unsigned char>(c) >= 0x80)
        return character < "\u0080" || character > "\u00A0";    // control characters, a blank
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/// The beginning of `text`, without half a character at its end.
std::string cut(const std::string& text, std::size_t bytes_max) {
    std::size_t end = 0;
    while (end < text.size()) {
        const std::size_t next = end_of_character(text, end);
        if (next > bytes_max) break;
        end = next;
    }
    return text.substr(0, end);
}

std::string plain(const std::string& label) {
    std::string text;
    for (std::size_t begin = 0; begin < label.size();) {
        const std::size_t end = end_of_character(label, begin);
        const std::string_view character(label.data() + begin, end - begin);
        text += stays(character) ? character : "_";
        begin = end;
    }
    return cut(text, metric_label_bytes_max);
}

}    // namespace

std::vector<std::string> metric_labels(const std::vector<std::string>& labels) {
    std::set<std::string> taken;
    for (const std::string& label : labels)
        if (plain(label) == label) taken.insert(label);
    std::vector<std::string> spelled;
    for (const std::string& label : labels) {
        const std::string beginning = plain(label);
        std::string name = beginning;
        if (name != label) {
            for (int number = 2; !taken.insert(name).second; ++number) {
                const std::string ending = fmt::format("_{}", number);
                name = cut(beginning, metric_label_bytes_max - ending.size()) + ending;
            }
        }
        spelled.push_back(std::move(name));
    }
    return spelled;
}

}    // namespace slipway
