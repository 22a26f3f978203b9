#pragma once

#include <filesystem>
#include <string>

namespace slipway {

/// A new empty folder below the system's temporary folder, removed with everything in it.
class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Writes `text` to `name` inside (folders on the way are made) and returns the full path.
    std::filesystem::path write(const std::string& name, const std::string& text) const;

private:
    std::filesystem::path path_;
};

/// A file's whole content.
std::string read_file(const std::filesystem::path& path);

/// Where the real data for tests is: SLIPWAY_TEST_DATA, else ../shared/data beside the checkout;
/// empty when missing.
std::filesystem::path test_data_folder();

}    // namespace slipway
