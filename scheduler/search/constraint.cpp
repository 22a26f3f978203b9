// A recursive descent parser over one table of binary operators by precedence. It writes a flat
// program for a machine with a stack, since a search may ask a constraint ten thousand times for
// one point: a tree whose values were JSON took 500 ns a node, of which nearly all was for copies
// and for looking names up. An outside expression language was the alternative; none of Debian's is
// small, and a search must not depend on what a library's next version thinks of 1 == true.
//
// What holds: a value is a number, a text, a truth, what a choice may be besides (a list, an
// object), or nothing (what does not exist or has no meaning, such as 1 / 0 or 'a' + 1). Nothing
// satisfies no comparison.

#include "scheduler/search/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "api/base/check.h"

namespace slipway::search {

namespace {

using Step = Constraint::Step;
using enum Constraint::Step::Code;

constexpr int depth_max = 32;
// Of each level of parentheses a comparison, a sum, a product and a list hold one value.
constexpr std::size_t stack_max = 256;

struct Operator {
    std::string_view sign;
    Step::Code code;
};

// Loosest first.
constexpr std::array<std::array<Operator, 7>, 5> operators{{
    {{{"or", skip_if_true}}},
    {{{"and", skip_if_false}}},
    {{{"==", equal},
      {"!=", unequal},
      {"<=", at_most},
      {">=", at_least},
      {"<", below},
      {">", above},
      {"in", member}}},
    {{{"+", sum}, {"-", difference}}},
    {{{"*", product}, {"/", quotient}, {"%", remainder}}},
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

/// What a text is made into. Names are numbered as they come.
struct Compiled {
    std::vector<Step> program = {};
    std::vector<Json> literals = {};
    std::vector<std::string> names = {};
};

class ConstraintParser {
public:
    explicit ConstraintParser(std::string_view text) : text_(text) {}

    /// None: there is a fault.
    std::optional<Compiled> parse() {
        bool is_good = binary(0, 0);
        skip_blanks();
        if (is_good && at_ != text_.size()) is_good = fail("an operator or the end");
        if (!is_good) return std::nullopt;
        check(height_max_ <= stack_max, "the depth of a constraint bounds its stack");
        return std::move(made_);
    }

    const std::string& fault() const { return fault_; }

private:
    bool fail(std::string_view wanted) {
        if (!fault_.empty()) return false;
        const std::string_view rest = text_.substr(at_, 12);
        fault_ = fmt::format("expected {} at position {}, got {}", wanted, at_ + 1,
                             rest.empty() ? "the end" : fmt::format("\"{}\"", rest));
        return false;
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

    std::optional<Step::Code> take_operator(std::size_t level) {
        for (const Operator& one : operators[level])
            if (!one.sign.empty() && take(one.sign)) return one.code;
        return std::nullopt;
    }

    bool binary(std::size_t level, int depth) {
        if (level == operators.size()) return unary(depth);
        if (level == comparisons && take("not")) return negated(depth);
        if (!binary(level + 1, depth)) return false;
        while (const auto code = take_operator(level)) {
            const bool is_good = *code == member       ? list(depth)
                                 : level < comparisons ? truth_of(*code, level, depth)
                                                       : plain(*code, level, depth);
            if (!is_good) return false;
            if (level == comparisons) break;    // a < b < c is no comparison of one truth with c
        }
        return true;
    }

    bool plain(Step::Code code, std::size_t level, int depth) {
        if (!binary(level + 1, depth)) return false;
        add({code}, -1);
        return true;
    }

    bool truth_of(Step::Code skip, std::size_t level, int depth) {
        const std::size_t skipped_at = made_.program.size();
        add({skip}, -1);
        if (!binary(level + 1, depth)) return false;
        add({truth}, 0);
        end_here(skipped_at);
        return true;
    }

    bool negated(int depth) {
        if (depth == depth_max) return fail("at most 32 levels");
        if (!binary(comparisons, depth + 1)) return false;
        add({negation}, 0);
        return true;
    }

    bool list(int depth) {
        if (!take("[")) return fail("a list in brackets");
        std::vector<std::size_t> members;
        do {
            if (!unary(depth + 1)) return false;
            members.push_back(made_.program.size());
            add({member}, -1);
        } while (take(","));
        if (!take("]")) return fail("\",\" or \"]\"");
        add({no_member}, 0);
        for (const std::size_t one : members)
            end_here(one);
        return true;
    }

    bool unary(int depth) {
        skip_blanks();
        if (depth >= depth_max) return fail("at most 32 levels");
        if (take("(")) {
            if (!binary(0, depth + 1)) return false;
            return take(")") || fail("\")\"");
        }
        if (take("-")) {
            if (!unary(depth + 1)) return false;
            add({minus}, 0);
            return true;
        }
        if (take("true") || take("True")) return put(true);
        if (take("false") || take("False")) return put(false);
        const char next = at_ < text_.size() ? text_[at_] : '\0';
        if (next == '\'' || next == '"') return quoted(next);
        if (is_digit(next) || next == '.') return number_literal();
        if (is_name_start(next)) return named();
        return fail("a value");
    }

    bool quoted(char mark) {
        const std::size_t end = text_.find(mark, at_ + 1);
        if (end == std::string_view::npos) return fail("a closing quotation mark for");
        const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return put(std::string(inner));
    }

    bool number_literal() {
        double value = 0;
        const auto [end, error] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc{}) return fail("a number");
        at_ = std::size_t(end - text_.data());
        add({.code = number, .number = value}, 1);
        return true;
    }

    bool named() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_part(text_[at_]))
            ++at_;
        std::string path(text_.substr(begin, at_ - begin));
        if (path == "or" || path == "and" || path == "not" || path == "in") {
            at_ = begin;
            return fail("a value");
        }
        const auto known = std::ranges::find(made_.names, path);
        const auto index = std::uint32_t(known - made_.names.begin());
        if (known == made_.names.end()) made_.names.push_back(std::move(path));
        add({.code = name, .target = index}, 1);
        return true;
    }

    bool put(Json value) {
        add({.code = literal, .target = std::uint32_t(made_.literals.size())}, 1);
        made_.literals.push_back(std::move(value));
        return true;
    }

    /// `change`: of the height of the stack.
    void add(Step step, int change) {
        made_.program.push_back(step);
        height_ += std::size_t(change);
        height_max_ = std::max(height_max_, height_);
    }

    void end_here(std::size_t step) {
        made_.program[step].target = std::uint32_t(made_.program.size());
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string fault_;
    Compiled made_;
    std::size_t height_ = 0;
    std::size_t height_max_ = 0;
};

Operand arithmetic(Step::Code code, const Operand& a, const Operand& b) {
    if (a.kind != Operand::Kind::number || b.kind != Operand::Kind::number)
        return Operand::nothing();
    if (code == sum) return Operand::of(a.number + b.number);
    if (code == difference) return Operand::of(a.number - b.number);
    if (code == product) return Operand::of(a.number * b.number);
    if (b.number == 0) return Operand::nothing();
    if (code == quotient) return Operand::of(a.number / b.number);
    // The sign of the divisor, as in Python.
    return Operand::of(a.number - b.number * std::floor(a.number / b.number));
}

bool is_unequal(const Operand& a, const Operand& b) {
    if (a.kind == Operand::Kind::nothing || b.kind == Operand::Kind::nothing) return false;
    const bool are_numbers = a.kind == Operand::Kind::number && b.kind == Operand::Kind::number;
    if (are_numbers && (std::isnan(a.number) || std::isnan(b.number))) return false;
    return !is_equal(a, b);
}

bool is_ordered(Step::Code code, const auto& a, const auto& b) {
    if (code == below) return a < b;
    if (code == at_most) return a <= b;
    if (code == above) return a > b;
    return a >= b;
}

bool is_compared(Step::Code code, const Operand& a, const Operand& b) {
    if (code == equal) return is_equal(a, b);
    if (code == unequal) return is_unequal(a, b);
    if (a.kind != b.kind) return false;
    if (a.kind == Operand::Kind::number) return is_ordered(code, a.number, b.number);
    if (a.kind != Operand::Kind::text) return false;
    return is_ordered(code, a.json->get_ref<const std::string&>(),
                      b.json->get_ref<const std::string&>());
}

}    // namespace

Operand Operand::of(const Json& json) {
    if (json.is_number()) return {Kind::number, json.get<double>(), &json};
    if (json.is_boolean()) return {Kind::truth, json.get<bool>() ? 1.0 : 0.0, &json};
    return {json.is_null() ? Kind::nothing : json.is_string() ? Kind::text : Kind::other, 0, &json};
}

bool is_equal(const Operand& a, const Operand& b) {
    if (a.kind != b.kind || a.kind == Operand::Kind::nothing) return false;
    // Whole numbers above 2^53 are equal only where all their digits are.
    if (a.json != nullptr && b.json != nullptr) return *a.json == *b.json;
    return a.number == b.number;
}

std::variant<Constraint, Constraint::Fault> Constraint::parse(std::string_view text) {
    ConstraintParser parser(text);
    std::optional<Compiled> made = parser.parse();
    if (!made) return Fault{parser.fault()};
    Constraint constraint;
    constraint.text_ = text;
    constraint.names_ = {made->names.begin(), made->names.end()};
    constraint.program_ = std::move(made->program);
    constraint.literals_ = std::move(made->literals);
    for (Step& step : constraint.program_)
        if (step.code == name)
            step.target = std::uint32_t(std::ranges::distance(
                constraint.names_.begin(), constraint.names_.find(made->names[step.target])));
    return constraint;
}

void Constraint::bind(const std::function<std::size_t(const std::string& name)>& slot_of) {
    slots_.clear();
    for (const std::string& one : names_)
        slots_.push_back(std::uint32_t(slot_of(one)));
}

bool Constraint::holds(std::span<const Operand> slots) const {
    for (const std::uint32_t slot : slots_)
        if (slots[slot].kind == Operand::Kind::nothing) return true;
    std::array<Operand, stack_max>
        stack;    // not filled: that would take longer than most programs
    std::size_t height = 0;
    const auto top = [&]() -> Operand& { return stack[height - 1]; };
    for (std::size_t i = 0; i < program_.size(); ++i) {
        const Step& step = program_[i];
        switch (step.code) {
            case literal:
                stack[height++] = Operand::of(literals_[step.target]);
                break;
            case number:
                stack[height++] = Operand::of(step.number);
                break;
            case name:
                stack[height++] = slots[slots_[step.target]];
                break;
            case negation:
                top() = Operand::of_truth(!top().is_true());
                break;
            case minus:
                top() = top().kind == Operand::Kind::number ? Operand::of(-top().number)
                                                            : Operand::nothing();
                break;
            case truth:
                top() = Operand::of_truth(top().is_true());
                break;
            case skip_if_true:
            case skip_if_false:
                if (top().is_true() == (step.code == skip_if_true)) {
                    top() = Operand::of_truth(step.code == skip_if_true);
                    i = step.target - 1;
                } else {
                    --height;
                }
                break;
            case member:
                --height;
                if (is_equal(top(), stack[height])) {
                    top() = Operand::of_truth(true);
                    i = step.target - 1;
                }
                break;
            case no_member:
                top() = Operand::of_truth(false);
                break;
            case sum:
            case difference:
            case product:
            case quotient:
            case remainder:
                --height;
                top() = arithmetic(step.code, top(), stack[height]);
                break;
            default:
                --height;
                top() = Operand::of_truth(is_compared(step.code, top(), stack[height]));
        }
    }
    return top().is_true();
}

}    // namespace slipway::search
