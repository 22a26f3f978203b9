#include "server/main/backup_report.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "api/base/error.h"
#include "api/base/parsed_json.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "migrations/migrate.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr const char* report_name = "backup.json";

std::string read_whole(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

BackupReport parse_report(const std::string& text, const fs::path& file) {
    try {
        const Json value = parse_json(text).value().value;
        return {.format = value.at("format").get<int>(),
                .version = value.at("version").get<std::string>(),
                .schema = value.at("schema").get<int>(),
                .at = parse_rfc3339(value.at("at").get<std::string>()).value(),
                .counts = {.files = value.at("files").get<std::int64_t>(),
                           .bytes = value.at("bytes").get<std::int64_t>()},
                .dump_sha256 = value.at("dump_sha256").get<std::string>(),
                .list_sha256 = value.at("list_sha256").get<std::string>()};
    } catch (const std::exception& error) {    // of two libraries: all mean the same
        throw Error{ErrorCode::data_loss,
                    fmt::format("the backup is damaged: {}: {}", file.string(), error.what())};
    }
}

void require_digest(const fs::path& file, const std::string& wanted) {
    const std::string digest = fs::exists(file) ? sha256_file(file) : "";
    if (digest == wanted) return;
    throw Error{ErrorCode::data_loss,
                digest.empty() ? fmt::format("the backup is damaged: {} is missing", file.string())
                               : fmt::format("the backup is damaged: {} has SHA-256 {}, not {}",
                                             file.string(), digest, wanted)};
}

void require_older(const BackupReport& report, const fs::path& backup) {
    const int newest = migrations::all().back().number;
    if (report.format <= backup_format && report.schema <= newest) return;
    throw Error{ErrorCode::conflict,
                fmt::format("{} was made by slipwayd {}: its format is {} and its schema step {}, "
                            "and this program has {} and {}; restore it with the programs of that "
                            "version or a newer one",
                            backup.string(), report.version, report.format, report.schema,
                            backup_format, newest)};
}

}    // namespace

void write_report(const fs::path& backup, const BackupReport& report) {
    const Json value{{"format", report.format},           {"version", report.version},
                     {"schema", report.schema},           {"at", to_rfc3339(report.at)},
                     {"files", report.counts.files},      {"bytes", report.counts.bytes},
                     {"dump_sha256", report.dump_sha256}, {"list_sha256", report.list_sha256}};
    write_file_aside(backup / report_name, value.dump(2) + "\n");
}

BackupReport read_report(const fs::path& backup) {
    const fs::path file = backup / report_name;
    if (!fs::exists(file))
        throw Error{
            ErrorCode::not_found,
            fmt::format("{} is no backup, or an unfinished one: it has no {}; give a folder "
                        "that slipwayd backup has printed",
                        backup.string(), report_name)};
    BackupReport report = parse_report(read_whole(file), file);
    require_older(report, backup);
    require_digest(backup / list_name, report.list_sha256);
    require_digest(backup / dump_name, report.dump_sha256);
    return report;
}

}    // namespace slipway
