#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/spec/table/problem.h"

namespace slipway {

class ObjectTable;

/// One place of a document while it is decoded, and where problems go. Cheap to copy; borrows the
/// list of problems and the root's table for the time of one decoding.
class Reader {
public:
    /// Enough for a person; a document of nothing but mistakes costs no more.
    static constexpr std::size_t problems_max = 100;

    Reader(std::vector<Problem>& problems, const ObjectTable& root, bool is_request = false)
        : problems_(problems), root_(root), is_request_(is_request) {}

    Reader at(std::string_view key) const;
    Reader at(std::size_t index) const;

    const std::string& pointer() const { return pointer_; }
    /// "train.optimizer.lr"; "the document" at the root.
    std::string path() const;
    const ObjectTable& root() const { return root_; }
    /// Else the document is stored, maybe by a build with fewer rules.
    bool is_request() const { return is_request_; }
    std::size_t problem_count() const { return problems_.size(); }
    bool full() const { return problems_.size() >= problems_max; }

    /// Adds a problem of this place. `message` is a whole sentence.
    void report(std::string code, std::string message, std::vector<std::string> allowed = {}) const;

    /// "PATH must be WANTED, got VALUE".
    void refuse(std::string code, std::string_view wanted, const Json& got,
                std::vector<std::string> allowed = {}) const;

private:
    std::vector<Problem>& problems_;
    const ObjectTable& root_;
    bool is_request_;
    std::string pointer_;
};

/// A value as a message shows it: short, and never more than one line of it.
std::string shown(const Json& value);

/// Text from outside, at most `characters_max` of it and then "…"; control characters become "?".
std::string shortened(std::string_view text, std::size_t characters_max = 60);

}    // namespace slipway
