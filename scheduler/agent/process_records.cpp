#include "scheduler/agent/process_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/base/posix.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/agent/spare_file.h"
#include "scheduler/launcher/private_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t record_bytes_max = 4096;
/// Records are filled up to it, so that each can be written over another one.
constexpr std::size_t record_bytes = 512;
constexpr std::string_view spare_prefix = "spare-";

struct NamedRecord {
    std::string name;
    ProcessRecord record;
};

/// None when the file is damaged, of another scope, or of a record that was forgotten.
std::optional<NamedRecord> read_record(const fs::path& file, const std::string& scope) {
    if (file.filename().string().starts_with(spare_prefix)) return std::nullopt;
    const auto text = read_at_most(file, record_bytes_max);
    const Json stored = Json::parse(text.value_or(""), nullptr, false);
    try {
        // What runs on other machines goes on when this one starts again: its ids are negative.
        const bool is_here = stored.at("start_ticks").get<std::int64_t>() >= 0;
        if (is_here && stored.at("boot") != scope) return std::nullopt;
        return NamedRecord{
            .name = stored.at("name").get<std::string>(),
            .record = {.id = {.pid = stored.at("pid").get<pid_t>(),
                              .start_ticks = stored.at("start_ticks").get<std::int64_t>()},
                       .fence = stored.at("fence").get<std::string>()}};
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

}    // namespace

ProcessRecords::ProcessRecords(fs::path folder, std::string id_scope, std::size_t spares_max)
    : folder_(std::move(folder)), id_scope_(std::move(id_scope)), spares_max_(spares_max) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder_, absent)) {
        std::error_code problem;
        if (!entry.is_regular_file(problem)) continue;    // of exports
        if (auto found = read_record(entry.path(), id_scope_)) {
            records_.insert_or_assign(std::move(found->name), std::move(found->record));
        } else {
            fs::remove(entry.path(), problem);
        }
    }
}

void ProcessRecords::keep(const std::string& name, const ProcessRecord& record) {
    make_private_folder(folder_);
    const Json stored{{"name", name},
                      {"pid", record.id.pid},
                      {"start_ticks", record.id.start_ticks},
                      {"fence", record.fence},
                      {"boot", id_scope_}};
    std::string text = stored.dump();
    text.resize(std::max(text.size(), record_bytes), ' ');
    write_record(file_of(name), text);
    records_.insert_or_assign(name, record);
}

void ProcessRecords::write_record(const fs::path& file, const std::string& text) {
    if (!spares_.empty() && text.size() == record_bytes) {
        const fs::path spare = std::move(spares_.back());
        spares_.pop_back();
        if (write_over_spare(spare, file, text)) return;
    }
    write_file_aside(file, text);
}

void ProcessRecords::forget(const std::string& name) {
    if (records_.erase(name) == 0) return;
    std::error_code problem;    // what stays is of a process that is gone: the launcher finds that
    const fs::path file = file_of(name);
    const fs::path spare = folder_ / fmt::format("{}{}", spare_prefix, next_spare_++);
    if (spares_.size() < spares_max_ && fs::file_size(file, problem) == record_bytes && !problem &&
        rename(file.c_str(), spare.c_str()) == 0)
        return spares_.push_back(spare);
    fs::remove(file, problem);
}

std::optional<ProcessRecord> ProcessRecords::find(const std::string& name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
}

fs::path ProcessRecords::file_of(const std::string& name) const {
    std::string file = name;    // "job_…/2"
    std::ranges::replace(file, '/', '.');
    return folder_ / (file + ".json");
}

std::function<void(const ProcessId&)> keep_record(ProcessRecords& records, std::string name,
                                                  std::string fence) {
    return [&records, name = std::move(name), fence = std::move(fence)](const ProcessId& id) {
        records.keep(name, {.id = id, .fence = fence});
    };
}

}    // namespace slipway
