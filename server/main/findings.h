#pragma once

#include <string>
#include <vector>

namespace slipway {

/// One line of a check of a machine.
struct Finding {
    std::string name;
    bool good = false;
    std::string detail;
    bool needed = true;    ///< its absence is a fault of the machine
};

/// Prints them as a table. True: nothing that is needed is missing.
bool print_findings(const std::vector<Finding>& findings);

}    // namespace slipway
