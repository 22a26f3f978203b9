#include "tests/support/temp_folder.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "api/base/check.h"

namespace slipway {

namespace fs = std::filesystem;

TempFolder::TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "slipway-test-XXXXXX").string();
    check(mkdtemp(pattern.data()) != nullptr, "a temporary folder can be made");
    path_ = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;    // a leftover in /tmp must not fail a test
    fs::remove_all(path_, ignored);
}

fs::path TempFolder::write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

fs::path test_data_folder() {
    const char* configured = std::getenv("SLIPWAY_TEST_DATA");
    const fs::path folder = configured != nullptr
                                ? fs::path(configured)
                                : fs::path(SLIPWAY_SOURCE_DIR) / ".." / "shared" / "data";
    return fs::exists(folder) ? folder : fs::path();
}

}    // namespace slipway
