#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/json.h"

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
    struct Node;

    /// What is wrong with a text, and where in it.
    struct Fault {
        std::string message;    ///< "expected a value at position 12, got \"<\""
    };

    /// Constant after construction, so copies share it.
    static std::variant<Constraint, Fault> parse(std::string_view text);

    /// Values of types that do not compare (a text below a number) do not satisfy it.
    bool holds(const Point& point) const;

    /// The paths it names.
    const std::set<std::string>& names() const { return names_; }
    const std::string& text() const { return text_; }

private:
    std::string text_;
    std::set<std::string> names_;
    std::shared_ptr<const Node> root_;
};

}    // namespace slipway::search
