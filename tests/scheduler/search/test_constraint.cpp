#include "scheduler/search/constraint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace slipway::search {
namespace {

const Point tried_point{{"a", 3},
                        {"b.c", 0.5},
                        {"name", "adam"},
                        {"flag", true},
                        {"big", 9007199254740993},
                        {"twin", 9007199254740992},
                        {"list", {1, 2}}};

bool holds(std::string_view text) {
    const auto parsed = Constraint::parse(text);
    const auto* found = std::get_if<Constraint>(&parsed);
    EXPECT_NE(found, nullptr) << text << std::get<Constraint::Fault>(parsed).message;
    if (found == nullptr) return false;
    Constraint constraint = *found;
    std::vector<Operand> slots;
    constraint.bind([&](const std::string& name) {
        const auto value = tried_point.find(name);
        slots.push_back(value == tried_point.end() ? Operand::nothing()
                                                   : Operand::of(value->second));
        return slots.size() - 1;
    });
    return constraint.holds(slots);
}

TEST(SearchConstraint, expressions_mean_what_they_say) {
    const std::pair<const char*, bool> cases[] = {
        {"a == 3", true},
        {"a != 3", false},
        {"a < 3", false},
        {"a <= 3", true},
        {"b.c > 0.25 and b.c >= 0.5", true},
        {"a + 1 == 4", true},
        {"a - 1 - 1 == 1", true},
        {"a * 2 + 1 == 7", true},
        {"1 + a * 2 == 7", true},
        {"(1 + a) * 2 == 8", true},
        {"a / 2 == 1.5", true},
        {"a % 2 == 1", true},
        {"-a % 2 == 1", true},
        {"-a == -3", true},
        {"a == 3.0", true},
        {"a in [1, 2, 3]", true},
        {"name in ['sgd']", false},
        {"name == 'adam'", true},
        {"name == \"adam\"", true},
        {"name < 'b'", true},
        {"flag", true},
        {"not flag", false},
        {"not a == 4", true},
        {"flag == true", true},
        {"flag == 1", false},
        {"a == 4 or a == 3", true},
        {"a == 4 or a == 3 and name == 'sgd'", false},
        {"(a == 3 or a == 4) and name == 'adam'", true},
        {"name > 3", false},
        {"a / 0 == a / 0", false},
        {"name + 1 == name + 1", false},
        {"absent > 3", true},
        {"absent > 3 and a == 4", true},
        {"a <= 1e1", true},
        {"big == twin", false},
        {"big != twin", true},
        {"list == list", true},
        {"list != a", true},
        {"list < list", false},
        {"flag < true", false},
        {"'a' + 1 != 2", false},
        {"1e308 * 10 - 1e308 * 10 != 1", false},
        {"a in [-1, (a + 0)]", true},
        {"not (a in [1, 2]) and (a or 'x' < 1)", true},
    };
    for (const auto& [text, wanted] : cases)
        EXPECT_EQ(holds(text), wanted) << text;
}

TEST(SearchConstraint, names_are_found) {
    const auto parsed = Constraint::parse("a.b <= 64 or c == 'x y' and not inner");
    EXPECT_EQ(std::get<Constraint>(parsed).names(), (std::set<std::string>{"a.b", "c", "inner"}));
}

TEST(SearchConstraint, faults_name_the_place) {
    const std::pair<std::string, const char*> cases[] = {
        {"", "expected a value at position 1, got the end"},
        {"a <", "expected a value at position 4, got the end"},
        {"a <= <= 3", "expected a value at position 6, got \"<= 3\""},
        {"a < 3 < 4", "expected an operator or the end at position 7, got \"< 4\""},
        {"(a < 3", "expected \")\" at position 7, got the end"},
        {"a == 'x", "expected a closing quotation mark for at position 6, got \"'x\""},
        {"a in 3", "expected a list in brackets at position 6, got \"3\""},
        {"a in [3", "expected \",\" or \"]\" at position 8, got the end"},
        {"a = 3", "expected an operator or the end at position 3, got \"= 3\""},
        {"and", "expected a value at position 1, got \"and\""},
        {"system(1)", "expected an operator or the end at position 7, got \"(1)\""},
        {std::string(500, '('), "expected at most 32 levels at position 33, got \"((((((((((((\""},
        {std::string(500, '-'), "expected at most 32 levels at position 33, got \"------------\""},
    };
    for (const auto& [text, wanted] : cases) {
        const auto parsed = Constraint::parse(text);
        const auto* fault = std::get_if<Constraint::Fault>(&parsed);
        ASSERT_NE(fault, nullptr) << text;
        EXPECT_EQ(fault->message, wanted) << text;
    }
}

}    // namespace
}    // namespace slipway::search
