#pragma once

#include <map>
#include <string>

#include "scheduler/store/hosts.h"

namespace slipway {

/// The numbers of projects (store::executor_number), each asked for once. One thread.
class ProjectNumbers {
public:
    explicit ProjectNumbers(store::Store& store) : store_(store) {}

    /// errors  throws unavailable, exhausted
    int of(const std::string& project) {
        const auto known = numbers_.find(project);
        if (known != numbers_.end()) return known->second;
        return numbers_[project] = store::executor_number(store_, project);
    }

private:
    store::Store& store_;    // outlives this
    std::map<std::string, int> numbers_;
};

}    // namespace slipway
