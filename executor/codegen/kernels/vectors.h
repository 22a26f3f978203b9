#pragma once

#include <cstring>

/// Registers full of numbers, spelled out: the compiler takes short loops apart instead.
namespace slipway {

template <class Element, int width>
using Vector [[gnu::vector_size(width * sizeof(Element))]] = Element;

/// For vectors and single numbers; no alignment is asked for.
template <class Number, class T>
Number load(const T* from) {
    Number numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return numbers;
}

template <class Number, class T>
void store(const Number& numbers, T* to) {
    std::memcpy(static_cast<void*>(to), &numbers, sizeof numbers);
}

}    // namespace slipway
