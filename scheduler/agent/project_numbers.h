#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/store/hosts.h"

namespace slipway {

/// What becomes of work of a project that has no number.
inline constexpr std::string_view no_project_number =
    "no user id is left for the executors of another project; use a project that has run before";

/// The numbers of projects (store::executor_number), each asked for once. One thread.
class ProjectNumbers {
public:
    explicit ProjectNumbers(store::Store& store) : store_(store) {}

    /// None: no number is left for another project. To be asked before anything is started: that
    /// the database does not answer is no fault of what waits for the number.
    /// errors  throws unavailable
    std::optional<int> find(const std::string& project) {
        const auto known = numbers_.find(project);
        if (known != numbers_.end()) return known->second;
        const std::optional<int> number = store::executor_number(store_, project);
        if (number) numbers_[project] = *number;
        return number;
    }

    /// As find(), for work that was claimed: `release` gives the claim back when the database does
    /// not answer, so that the next turn tries again and not the end of the lease.
    /// errors  throws unavailable
    template <class Release>
    std::optional<int> find_or_release(const std::string& project, const Release& release) {
        try {
            return find(project);
        } catch (const Error&) {
            // When this fails as well, its error takes the place of the first, and the claim
            // lapses.
            release();
            throw;
        }
    }

private:
    store::Store& store_;    // outlives this
    std::map<std::string, int> numbers_;
};

}    // namespace slipway
