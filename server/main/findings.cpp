#include "server/main/findings.h"

#include <fmt/format.h>

namespace slipway {

bool print_findings(const std::vector<Finding>& findings) {
    bool good = true;
    for (const Finding& finding : findings) {
        const char* word = finding.good ? "ok" : finding.needed ? "NO" : "no";
        fmt::print("{:<4} {:<14} {}\n", word, finding.name, finding.detail);
        good = good && (finding.good || !finding.needed);
    }
    return good;
}

}    // namespace slipway
