#include "executor/train/name_pattern.h"

namespace slipway {

bool matches(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, in_name = 0;
    std::size_t star = pattern.npos, tried = 0;    // the last *, and where the text after it began
    while (in_name < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            tried = in_name;
        } else if (at < pattern.size() && pattern[at] == name[in_name]) {
            ++at;
            ++in_name;
        } else if (star != pattern.npos) {
            at = star + 1;
            in_name = ++tried;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*')
        ++at;
    return at == pattern.size();
}

}    // namespace slipway
