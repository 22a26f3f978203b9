#pragma once

#include <cstdint>

#include "api/base/json.h"

namespace slipway::search {

/// A value of a parameter as constraints and conditions read it. `json` is borrowed, so that
/// nothing is copied; numbers that were computed have none.
struct Operand {
    enum class Kind : std::uint8_t { nothing, number, truth, text, other };
    Kind kind;
    double number;    ///< of a truth: 0 or 1
    const Json* json;

    static Operand nothing() { return {Kind::nothing, 0, nullptr}; }
    static Operand of(double number) { return {Kind::number, number, nullptr}; }
    static Operand of_truth(bool truth) { return {Kind::truth, truth ? 1.0 : 0.0, nullptr}; }
    /// `json` outlives it.
    static Operand of(const Json& json);

    bool is_true() const { return (kind == Kind::truth || kind == Kind::number) && number != 0; }
};

/// As JSON values are equal: 1 and 1.0 are, 1 and true are not, NaN is not equal to itself.
/// `nothing` is equal to nothing else and not to itself.
bool is_equal(const Operand& a, const Operand& b);

}    // namespace slipway::search
