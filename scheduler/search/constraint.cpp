// A recursive descent parser over one table of binary operators by precedence, and an evaluator
// over JSON values. An outside expression language was the alternative; none of Debian's is small,
// and a search must not depend on what a library's next version thinks of 1 == true.
//
// What holds: a value is a number, a text, a truth or nothing (what does not exist or has no
// meaning, such as 1 / 0 or 'a' + 1). Nothing satisfies no comparison.

#include "scheduler/search/constraint.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace slipway::search {

struct Constraint::Node {
    enum class Kind { literal, name, list, negation, minus, binary };
    Kind kind = Kind::literal;
    Json value;          // of a literal
    std::string text;    // of a name, or the operator
    std::vector<std::shared_ptr<const Node>> parts;
};

namespace {

using Node = Constraint::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr int depth_max = 32;

// Loosest first.
constexpr std::array<std::array<std::string_view, 7>, 5> operators{{
    {"or"},
    {"and"},
    {"==", "!=", "<=", ">=", "<", ">", "in"},
    {"+", "-"},
    {"*", "/", "%"},
}};
constexpr std::size_t comparisons = 2;

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c) || c == '.';
}

class ConstraintParser {
public:
    explicit ConstraintParser(std::string_view text) : text_(text) {}

    NodePtr parse() {
        NodePtr root = binary(0, 0);
        skip_blanks();
        if (root && at_ != text_.size()) return fail("an operator or the end");
        return root;
    }

    const std::string& fault() const { return fault_; }
    std::set<std::string> take_names() { return std::move(names_); }

private:
    NodePtr fail(std::string_view wanted) {
        if (!fault_.empty()) return nullptr;
        const std::string_view rest = text_.substr(at_, 12);
        fault_ = fmt::format("expected {} at position {}, got {}", wanted, at_ + 1,
                             rest.empty() ? "the end" : fmt::format("\"{}\"", rest));
        return nullptr;
    }

    void skip_blanks() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }

    bool take(std::string_view word) {
        skip_blanks();
        if (!text_.substr(at_).starts_with(word)) return false;
        const std::size_t end = at_ + word.size();
        if (is_name_start(word[0]) && end < text_.size() && is_name_part(text_[end])) return false;
        at_ = end;
        return true;
    }

    std::optional<std::string_view> take_operator(std::size_t level) {
        for (const std::string_view one : operators[level])
            if (!one.empty() && take(one)) return one;
        return std::nullopt;
    }

    NodePtr binary(std::size_t level, int depth) {
        if (level == operators.size()) return unary(depth);
        if (level == comparisons && take("not")) return negation(depth);
        NodePtr left = binary(level + 1, depth);
        while (left) {
            const auto sign = take_operator(level);
            if (!sign) break;
            NodePtr right = level < comparisons ? binary(level + 1, depth)
                            : *sign == "in"     ? list(depth)
                                                : binary(level + 1, depth);
            if (!right) return nullptr;
            left = make(Node{Node::Kind::binary, {}, std::string(*sign), {left, right}});
            if (level == comparisons) break;    // a < b < c is no comparison of one truth with c
        }
        return left;
    }

    NodePtr negation(int depth) {
        if (depth == depth_max) return fail("at most 32 levels");
        NodePtr part = binary(comparisons, depth + 1);
        return part ? make(Node{Node::Kind::negation, {}, "not", {part}}) : nullptr;
    }

    NodePtr list(int depth) {
        if (!take("[")) return fail("a list in brackets");
        Node node{Node::Kind::list, {}, "", {}};
        do {
            NodePtr item = unary(depth + 1);
            if (!item) return nullptr;
            node.parts.push_back(std::move(item));
        } while (take(","));
        if (!take("]")) return fail("\",\" or \"]\"");
        return make(std::move(node));
    }

    NodePtr unary(int depth) {
        skip_blanks();
        if (depth >= depth_max) return fail("at most 32 levels");
        if (take("(")) {
            NodePtr inner = binary(0, depth + 1);
            if (inner && !take(")")) return fail("\")\"");
            return inner;
        }
        if (take("-")) {
            NodePtr part = unary(depth + 1);
            return part ? make(Node{Node::Kind::minus, {}, "-", {part}}) : nullptr;
        }
        if (take("true") || take("True")) return make(Node{Node::Kind::literal, true, "", {}});
        if (take("false") || take("False")) return make(Node{Node::Kind::literal, false, "", {}});
        const char next = at_ < text_.size() ? text_[at_] : '\0';
        if (next == '\'' || next == '"') return quoted(next);
        if (is_digit(next) || next == '.') return number();
        if (is_name_start(next)) return name();
        return fail("a value");
    }

    NodePtr quoted(char mark) {
        const std::size_t end = text_.find(mark, at_ + 1);
        if (end == std::string_view::npos) return fail("a closing quotation mark for");
        Node node{Node::Kind::literal, std::string(text_.substr(at_ + 1, end - at_ - 1)), "", {}};
        at_ = end + 1;
        return make(std::move(node));
    }

    NodePtr number() {
        double value = 0;
        const auto [end, error] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc{}) return fail("a number");
        at_ = std::size_t(end - text_.data());
        return make(Node{Node::Kind::literal, value, "", {}});
    }

    NodePtr name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_part(text_[at_]))
            ++at_;
        std::string path(text_.substr(begin, at_ - begin));
        if (path == "or" || path == "and" || path == "not" || path == "in") {
            at_ = begin;
            return fail("a value");
        }
        names_.insert(path);
        return make(Node{Node::Kind::name, {}, std::move(path), {}});
    }

    static NodePtr make(Node node) { return std::make_shared<const Node>(std::move(node)); }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string fault_;
    std::set<std::string> names_;
};

bool is_true(const Json& value) {
    if (value.is_boolean()) return value.get<bool>();
    return value.is_number() && value.get<double>() != 0;
}

Json arithmetic(char sign, double a, double b) {
    if (sign == '+') return a + b;
    if (sign == '-') return a - b;
    if (sign == '*') return a * b;
    if (b == 0) return nullptr;
    if (sign == '/') return a / b;
    return a - b * std::floor(a / b);    // the sign of the divisor, as in Python
}

bool ordered(std::string_view sign, const auto& a, const auto& b) {
    if (sign == "<") return a < b;
    if (sign == "<=") return a <= b;
    if (sign == ">") return a > b;
    return a >= b;
}

bool compared(std::string_view sign, const Json& a, const Json& b) {
    if (a.is_null() || b.is_null()) return false;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (a.is_number() && b.is_number()) return ordered(sign, a.get<double>(), b.get<double>());
    if (a.is_string() && b.is_string())
        return ordered(sign, a.get_ref<const std::string&>(), b.get_ref<const std::string&>());
    return false;
}

Json evaluated(const Node& node, const Point& point);

Json evaluated_binary(const Node& node, const Point& point) {
    const Json left = evaluated(*node.parts[0], point);
    if (node.text == "or") return is_true(left) || is_true(evaluated(*node.parts[1], point));
    if (node.text == "and") return is_true(left) && is_true(evaluated(*node.parts[1], point));
    if (node.text == "in") {
        for (const NodePtr& item : node.parts[1]->parts)
            if (compared("==", left, evaluated(*item, point))) return true;
        return false;
    }
    const Json right = evaluated(*node.parts[1], point);
    const bool is_arithmetic = node.text.size() == 1 && node.text != "<" && node.text != ">";
    if (!is_arithmetic) return compared(node.text, left, right);
    if (!left.is_number() || !right.is_number()) return nullptr;
    return arithmetic(node.text[0], left.get<double>(), right.get<double>());
}

Json evaluated(const Node& node, const Point& point) {
    switch (node.kind) {
        case Node::Kind::literal:
            return node.value;
        case Node::Kind::name: {
            const auto found = point.find(node.text);
            return found == point.end() ? Json() : found->second;
        }
        case Node::Kind::negation:
            return !is_true(evaluated(*node.parts[0], point));
        case Node::Kind::minus: {
            const Json part = evaluated(*node.parts[0], point);
            return part.is_number() ? Json(-part.get<double>()) : Json();
        }
        case Node::Kind::binary:
            return evaluated_binary(node, point);
        case Node::Kind::list:
            break;
    }
    return nullptr;
}

}    // namespace

std::variant<Constraint, Constraint::Fault> Constraint::parse(std::string_view text) {
    ConstraintParser parser(text);
    Constraint constraint;
    constraint.root_ = parser.parse();
    if (!constraint.root_) return Fault{parser.fault()};
    constraint.text_ = text;
    constraint.names_ = parser.take_names();
    return constraint;
}

bool Constraint::holds(const Point& point) const {
    for (const std::string& name : names_)
        if (!point.contains(name)) return true;
    return is_true(evaluated(*root_, point));
}

}    // namespace slipway::search
