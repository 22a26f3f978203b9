#include "executor/predict/prediction_file.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "api/base/error.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

fs::path aside_of(const fs::path& path) {
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem) {
        throw Error{
            ErrorCode::unavailable,
            fmt::format("cannot make {}: {}", path.parent_path().string(), problem.message())};
    }
    return path.string() + ".tmp";
}

template <class Float>
void append_finite(std::string& csv, Float value) {
    csv += ',';
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(csv), "{}", value);
}

}    // namespace

PredictionFile::PredictionFile(fs::path path) : path_(std::move(path)), aside_(aside_of(path_)) {}

void PredictionFile::write(std::string_view text) {
    aside_.write(std::as_bytes(std::span(text)));
}

void PredictionFile::finish() {
    aside_.finish();
    std::error_code problem;
    fs::rename(path_.string() + ".tmp", path_, problem);
    if (problem) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot write {}: {}", path_.string(), problem.message())};
    }
    sync_folder(path_.parent_path());
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

void append_number(std::string& csv, float value) {
    append_finite(csv, value);
}

void append_number(std::string& csv, double value) {
    append_finite(csv, value);
}

}    // namespace slipway
