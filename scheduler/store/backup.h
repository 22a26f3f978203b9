#pragma once

#include <memory>
#include <string>
#include <vector>

namespace slipway::store {

/// A file or folder that a row of the database names.
struct NamedFile {
    std::string path{};      ///< below the store: checkpoints/<job>/<name>/model.safetensors
    std::string sha256{};    ///< empty: not known, or a folder
};

/// While it exists, no host removes files of the store that a row named when it began, so the rows
/// can be dumped first and the files copied after them. It is a session of its own: when the
/// process is killed or the connection breaks, the hold has ended. One thread uses it.
class BackupHold {
public:
    /// errors  throws conflict when another backup of this database runs; unavailable
    explicit BackupHold(const std::string& database);
    ~BackupHold();
    BackupHold(const BackupHold&) = delete;
    BackupHold& operator=(const BackupHold&) = delete;

    /// Opens a transaction that sees one moment. Returns its name for pg_dump --snapshot.
    std::string open_snapshot();
    /// Of that moment.
    std::vector<NamedFile> list_named_files();
    void close_snapshot();

    /// errors  throws unavailable: the connection broke, so files may have been removed
    void check_held();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway::store
