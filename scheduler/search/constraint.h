#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scheduler/search/operand.h"

namespace slipway::search {

/// The values of one trial by dotted path; parameters that do not exist in it are absent.
using Point = std::map<std::string, Json>;

/// A condition that points must satisfy, in the notation of Python:
///     train.batch_size_per_core <= 64 or model.arch == 'resnet18'
///     not (model.depth > 4 and model.width * model.depth > 1024)
/// or, and, not; == != < <= > >= in; + - * / %; numbers, 'text' or "text", true, false, lists in
/// brackets after `in`, parentheses. Names are paths of parameters. A constraint that needs a
/// parameter which does not exist in a point holds there.
class Constraint {
public:
    /// What is wrong with a text, and where in it.
    struct Fault {
        std::string message;    ///< "expected a value at position 12, got \"<\""
    };

    /// One instruction: it takes values from a stack and puts one there.
    struct Step {
        enum class Code : std::uint8_t {
            literal,     ///< puts literals[target]
            number,      ///< puts `number`
            name,        ///< puts the value of slot `target`
            negation,    ///< not
            minus,
            skip_if_true,     ///< `or`: a true value ends it, at `target`
            skip_if_false,    ///< `and`
            truth,            ///< the value as true or false
            member,           ///< `in`: takes an item; equal to the value below: true, at `target`
            no_member,        ///< the value was equal to no item: false
            equal,
            unequal,
            below,
            at_most,
            above,
            at_least,
            sum,
            difference,
            product,
            quotient,
            remainder
        };
        Code code;
        std::uint32_t target = 0;
        double number = 0;
    };

    static std::variant<Constraint, Fault> parse(std::string_view text);

    /// Says in which slot the value of each name stands.
    void bind(const std::function<std::size_t(const std::string& name)>& slot_of);

    /// `slots` are those that it was bound to. Values of types that do not compare (a text below a
    /// number) do not satisfy it.
    bool holds(std::span<const Operand> slots) const;

    /// The paths it names.
    const std::set<std::string>& names() const { return names_; }
    const std::string& text() const { return text_; }
    /// How many steps it takes at most.
    std::size_t size() const { return program_.size(); }

private:
    std::string text_;
    std::set<std::string> names_;
    std::vector<Step> program_;           // in the order of execution
    std::vector<Json> literals_;          // texts and truths
    std::vector<std::uint32_t> slots_;    // of the names, in their order
};

}    // namespace slipway::search
