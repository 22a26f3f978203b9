#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// What the service keeps in files. Each kind has a folder; the table of them is in the source.
enum class Artifact {
    run,              ///< of an attempt: locate(run, job_id, "2")
    check,            ///< what a dataset check or the making of a split works in
    checkpoint,       ///< of a job, and with a name one of them: locate(checkpoint, job_id, name)
    dataset,          ///< what an upload was unpacked to
    report,           ///< of a job
    split,            ///< a manifest
    upload,           ///< a file as it was received
    compile_cache,    ///< of a project's number
    packed_images,    ///< of a project's number
    decoded_data,     ///< of a project's number, and in it of a dataset: copies that are mapped
    weights_export
};

/// Where artifacts are. They are named by kind and id; nobody else knows the layout of folders.
/// This one is a home folder, which the hosts of a service may share. Safe from every thread.
class ArtifactStore {
public:
    explicit ArtifactStore(std::filesystem::path home);

    /// What the hosts of a service share.
    std::filesystem::path shared_folder() const;
    /// That all artifacts of the kind are in.
    std::filesystem::path folder(Artifact kind) const;
    /// Whether it is there or not. `id` and `part` are names that the service has made or checked.
    std::filesystem::path locate(Artifact kind, std::string_view id,
                                 std::string_view part = {}) const;
    /// By the name that the database gives to garbage: "checkpoints/job_…/step_1", "runs/job_…".
    /// None when it names no artifact that may be garbage, or leads out of the folder of its kind.
    std::optional<std::filesystem::path> locate_garbage(std::string_view name) const;

    /// Moves a file that another process has written to its place; done before, it is done.
    /// errors  throws invalid_argument when it is no regular file: a link would have others read,
    ///         and own, whatever it names; unavailable when it cannot be moved
    void put(Artifact kind, std::string_view id, const std::filesystem::path& written) const;

private:
    std::filesystem::path home_;
};

/// The folders that a home has, relative to it, each after the one it lies in.
std::vector<std::string_view> artifact_folders();

}    // namespace slipway
