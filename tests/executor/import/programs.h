#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "executor/tensor/array.h"

/// The files of reference/make_programs.py, and what torch computes with them.
namespace slipway::importer {

std::filesystem::path program_path(const std::string& name);
const nlohmann::json& torch_numbers(const std::string& name);
/// {"dims", "values"} as f32.
Array numbers_of_json(const nlohmann::json& json);

/// The members of an archive by their names, and an archive of such members.
using Members = std::map<std::string, std::string>;
Members members_of(const std::filesystem::path& path);
void write_archive(const std::filesystem::path& path, const Members& members);

}    // namespace slipway::importer
