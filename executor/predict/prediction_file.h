#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "executor/checkpoint/durable_file.h"

namespace slipway {

/// A CSV that appears under its name when it is complete (RFC 4180, lines end with \n).
class PredictionFile {
public:
    /// Begins `path` aside; its folder is made when absent.
    /// errors  throws exhausted for a full disk, unavailable otherwise; so do all others
    explicit PredictionFile(std::filesystem::path path);

    /// `text` is whole lines.
    void write(std::string_view text);
    /// Brings it to the disk and gives it its name, in the place of one that is there.
    void finish();

private:
    std::filesystem::path path_;
    DurableFile aside_;
};

/// A field of a CSV: in quotes where it has to be.
std::string csv_field(std::string_view text);

/// Appends ",1.25": as few digits as give the same number again. No number: an empty field.
void append_number(std::string& csv, float value);
void append_number(std::string& csv, double value);

}    // namespace slipway
