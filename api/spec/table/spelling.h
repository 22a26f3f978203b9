#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace slipway {

/// The words of an enumeration, in the order of its enumerators: as on the wire, in SQL and in C++.
/// Specialised beside each enumeration that is part of the API:
///     template <>
///     struct Spelling<LrScaling> {
///         static constexpr std::array<std::string_view, 3> words{"none", "linear", "sqrt"};
///     };
template <class E>
struct Spelling {};

/// An enumeration with words.
template <class E>
concept Spelled = requires {
    Spelling<E>::words.size();
};

template <Spelled E>
constexpr std::string_view to_string(E value) noexcept {
    return Spelling<E>::words[std::size_t(value)];
}

/// The value of a word; none when it is not one of them.
template <Spelled E>
constexpr std::optional<E> parse_word(std::string_view word) noexcept {
    for (std::size_t index = 0; index < Spelling<E>::words.size(); ++index) {
        if (Spelling<E>::words[index] == word) return E(index);
    }
    return std::nullopt;
}

/// All words, in the order of the enumerators.
template <Spelled E>
constexpr std::span<const std::string_view> all_words() noexcept {
    return Spelling<E>::words;
}

}    // namespace slipway
