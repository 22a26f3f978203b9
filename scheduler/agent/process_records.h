#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/launcher/process_id.h"

namespace slipway {

/// A process that an agent of this host started.
struct ProcessRecord {
    ProcessId id;
    std::string fence;    ///< of its attempt; empty for a check or a split
};

/// The processes of this host whose end no agent has seen yet, each in a file of a folder that is
/// the agent's alone (mode 0700). What a process says of itself in its own folder may be a lie that
/// names somebody else's process; this is what decides which process is taken over or killed. A
/// record is kept before the program runs (ProgramStart::before_start), so none runs without one.
/// One thread.
class ProcessRecords {
public:
    /// Reads what earlier agents kept; records of another `id_scope` (Launcher::id_scope) are
    /// removed.
    /// spares_max  files of forgotten records that stay to be written again: to make or remove one
    ///             costs more
    ProcessRecords(std::filesystem::path folder, std::string id_scope, std::size_t spares_max = 0);

    /// `name` as in Watched. Replaces an earlier record of the same name.
    /// errors  throws exhausted, unavailable
    void keep(const std::string& name, const ProcessRecord& record);
    /// Nothing of the process is left.
    void forget(const std::string& name);
    std::optional<ProcessRecord> find(const std::string& name) const;
    const std::map<std::string, ProcessRecord>& all() const { return records_; }

private:
    std::filesystem::path file_of(const std::string& name) const;
    void write_record(const std::filesystem::path& file, const std::string& text);

    const std::filesystem::path folder_;
    const std::string id_scope_;
    const std::size_t spares_max_;
    std::map<std::string, ProcessRecord> records_;
    std::vector<std::filesystem::path> spares_;
    std::int64_t next_spare_ = 0;
};

/// What ProgramStart::before_start is for a process of this name.
std::function<void(const ProcessId&)> keep_record(ProcessRecords& records, std::string name,
                                                  std::string fence = {});

}    // namespace slipway
