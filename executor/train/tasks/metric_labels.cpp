#include "executor/train/tasks/metric_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace slipway {

namespace {

/// Letters of other scripts stay: any two Cyrillic words of one length would be one.
std::string plain(const std::string& label) {
    std::string text = label;
    std::ranges::replace_if(
        text,
        [](char c) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            const bool ascii = static_cast<unsigned char>(c) < 0x80;
            return ascii && !letter && !(c >= '0' && c <= '9') && c != '-' && c != '.';
        },
        '_');
    return text;
}

}    // namespace

std::vector<std::string> metric_labels(const std::vector<std::string>& labels) {
    std::set<std::string> taken;
    for (const std::string& label : labels)
        if (plain(label) == label) taken.insert(label);
    std::vector<std::string> spelled;
    for (const std::string& label : labels) {
        std::string name = plain(label);
        if (name != label) {
            for (int number = 2; !taken.insert(name).second; ++number)
                name = fmt::format("{}_{}", plain(label), number);
        }
        spelled.push_back(std::move(name));
    }
    return spelled;
}

}    // namespace slipway
