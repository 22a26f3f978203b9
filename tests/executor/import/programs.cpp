#include "tests/executor/import/programs.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include <fstream>

#include "executor/data/formats/zip_reader.h"

namespace slipway::importer {

namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::path(SLIPWAY_SOURCE_DIR) / "tests/executor/import/reference";

}    // namespace

fs::path program_path(const std::string& name) {
    return folder / (name + ".pt2");
}

const nlohmann::json& torch_numbers(const std::string& name) {
    static const auto all = nlohmann::json::parse(std::ifstream(folder / "programs.json"));
    return all.at(name);
}

Array numbers_of_json(const nlohmann::json& json) {
    Array array(Shape{DType::f32, json.at("dims").get<Dims>()});
    const auto values = json.at("values").get<std::vector<double>>();
    for (std::size_t i = 0; i < values.size(); ++i)
        array.as<float>()[i] = float(values[i]);
    return array;
}

Members members_of(const fs::path& path) {
    ZipReader reader(UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path.filename());
    Members members;
    std::string name;
    while (reader.next(name)) {
        std::string text(std::size_t{1} << 20, '\0');
        text.resize(reader.read(std::as_writable_bytes(std::span(text))));
        members[name] = text;
    }
    return members;
}

void write_archive(const fs::path& path, const Members& members) {
    archive* writer = archive_write_new();
    archive_write_set_format_zip(writer);
    archive_write_open_filename(writer, path.c_str());
    for (const auto& [name, text] : members) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, name.c_str());
        archive_entry_set_size(entry, std::int64_t(text.size()));
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_write_header(writer, entry);
        archive_write_data(writer, text.data(), text.size());
        archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
}

}    // namespace slipway::importer
