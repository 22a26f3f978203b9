#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/base/parsed_json.h"
#include "api/spec/field.h"

namespace slipway {

/// A file of the repository, relative to its root.
std::string source_file(const std::string& name);

/// The JSON of api/examples/NAME.
Json example(const std::string& name);

/// Names of the examples that begin with `prefix`, sorted.
std::vector<std::string> example_names(const std::string& prefix);

/// One "POINTER CODE" a line, for comparing.
std::string summary_of(const std::vector<Problem>& problems);

/// One case of an invalid_*.json file: the document, and what is wrong with it.
struct InvalidCase {
    std::string name;
    Json document;
    Json problems;    // [{"pointer", "code", "says"?, "allowed"?}]
};
std::vector<InvalidCase> invalid_cases(const std::string& file);

/// Compares with what the case says.
void expect_problems(const InvalidCase& wanted, const std::vector<Problem>& found);

}    // namespace slipway
