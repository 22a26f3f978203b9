#include "migrations/dump.h"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "api/base/error.h"
#include "migrations/queries.h"
#include "scheduler/store/cluster/process.h"
#include "scheduler/store/pg/connection.h"

namespace slipway::migrations {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& reason) {
    throw Error{ErrorCode::unavailable, reason};
}

struct DatabaseFacts {
    std::int64_t bytes = 0;
    int major = 0;    ///< the version of its server
    std::int64_t tables = 0;
};

DatabaseFacts facts_of(const std::string& database) {
    store::Connection connection({.database = database, .connections_max = 1});
    const store::Rows rows = connection.run(queries::measure_database);
    return {.bytes = rows[0].integer("bytes"),
            .major = rows[0].small("major"),
            .tables = rows[0].integer("tables")};
}

fs::path find_program(const std::string& name, const fs::path& installed, int major) {
    for (const fs::path& path :
         {installed / std::to_string(major) / "bin" / name, fs::path("/usr/bin") / name})
        if (fs::exists(path)) return path;
    fail(fmt::format("there is no {}: install the package postgresql-client-{}", name, major));
}

void make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!problem) fs::permissions(folder, fs::perms::owner_all, problem);
    if (problem) fail(fmt::format("{}: {}", folder.string(), problem.message()));
}

/// Of a process that was killed. It may be as large as the database.
void delete_unfinished(const fs::path& folder) {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".dump.partial") || name.ends_with(".dump.log"))
            fs::remove(entry.path(), problem);
    }
}

/// A dump is compressed and has no indexes: it takes less than the database.
void require_room(const fs::path& folder, std::int64_t bytes) {
    std::error_code problem;
    const fs::space_info space = fs::space(folder, problem);
    if (problem || space.available >= std::uintmax_t(bytes)) return;
    fail(fmt::format("it takes up to {} MiB and {} has {} MiB free: make room", bytes >> 20,
                     folder.string(), space.available >> 20));
}

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

}    // namespace

std::string to_compact_time(Instant instant) {
    std::string text = to_rfc3339(instant).substr(0, sizeof "2026-11-29T03:21:12" - 1);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text + "Z";
}

void write_dump(const DumpFile& file) {
    const DatabaseFacts facts = facts_of(file.database);
    const fs::path program = find_program("pg_dump", file.installed, facts.major);
    require_room(file.path.parent_path(), facts.bytes);
    const fs::path partial = fs::path(file.path).concat(".partial");
    const fs::path messages = fs::path(file.path).concat(".log");
    std::vector<std::string> words{program.string(), "--format=custom",
                                   "--file=" + partial.string()};
    if (!file.snapshot.empty()) words.push_back("--snapshot=" + file.snapshot);
    const int code = store::run_process({.words = std::move(words),
                                         .environment = store::address_environment(file.database),
                                         .output = messages});
    const std::string said = text_of(messages);
    std::error_code problem;
    fs::remove(messages, problem);
    if (code == 0) fs::rename(partial, file.path, problem);
    if (code == 0 && !problem) return;
    const std::string reason = problem ? problem.message() : said;
    fs::remove(partial, problem);
    fail(reason.empty() ? fmt::format("pg_dump ended with exit code {}", code) : reason);
}

void restore_dump(const RestoredDump& dump) {
    const DatabaseFacts facts = facts_of(dump.database);
    if (facts.tables != 0)
        throw Error{ErrorCode::conflict,
                    fmt::format("the database is not empty, it has {} tables: give one that was "
                                "just created",
                                facts.tables)};
    const fs::path program = find_program("pg_restore", dump.installed, facts.major);
    // The name of the database is in the environment, but pg_restore requires the option.
    const int code = store::run_process(
        {.words = {program.string(), "--single-transaction", "--exit-on-error", "--no-owner",
                   "--no-privileges", "--no-comments", "--dbname=", dump.path.string()},
         .environment = store::address_environment(dump.database),
         .output = dump.messages});
    const std::string said = text_of(dump.messages);
    std::error_code problem;
    fs::remove(dump.messages, problem);
    if (code != 0)
        fail(fmt::format(
            "the database was not restored: {}",
            said.empty() ? fmt::format("pg_restore ended with exit code {}", code) : said));
}

fs::path dump_database(const DumpOptions& options) {
    const fs::path file = options.folder / fmt::format("before-{}-{}.dump", options.version,
                                                       to_compact_time(options.at));
    try {
        make_folder(options.folder);
        delete_unfinished(options.folder);
        write_dump({.database = options.database, .path = file, .installed = options.installed});
    } catch (const Error& error) {
        // The message adds what the failure has prevented.
        throw Error{error.code(),
                    fmt::format("the schema was not migrated, because the database could not be "
                                "dumped before it: {}. Or make a backup of your own and run "
                                "`slipwayd migrate --no-dump`",
                                error.what())};
    }
    return file;
}

}    // namespace slipway::migrations
