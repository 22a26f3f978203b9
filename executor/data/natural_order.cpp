#include "executor/data/natural_order.h"

#include <algorithm>
#include <compare>
#include <cstddef>

namespace slipway {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes the run of digits that `text` begins with, without its leading zeros.
std::string_view take_digits(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

}    // namespace

bool comes_before(std::string_view a, std::string_view b) {
    std::string_view x = a, y = b;
    while (!x.empty() && !y.empty()) {
        if (is_digit(x[0]) && is_digit(y[0])) {
            const std::string_view first = take_digits(x), second = take_digits(y);
            if (first.size() != second.size()) return first.size() < second.size();
            if (const auto order = first <=> second; order != 0) return order < 0;
            continue;
        }
        if (x[0] != y[0])
            return static_cast<unsigned char>(x[0]) < static_cast<unsigned char>(y[0]);
        x.remove_prefix(1);
        y.remove_prefix(1);
    }
    if (x.empty() != y.empty()) return x.empty();
    return a < b;
}

}    // namespace slipway
