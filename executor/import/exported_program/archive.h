#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "api/base/json.h"
#include "executor/data/formats/zip_reader.h"
#include "executor/tensor/shape.h"

/// What the parts of the reader of torch.export's archives share.
namespace slipway::importer {

/// errors  always invalid_argument
[[noreturn]] void refuse_program(const std::string& message);

/// The members of an archive, without the name of the folder that holds all.
class ArchiveMembers {
public:
    explicit ArchiveMembers(std::filesystem::path path) : path_(std::move(path)) {}

    /// Calls take(name, reader) for each member in the order of their bytes.
    /// errors  not_found; DataError when the zip is damaged; invalid_argument for a name twice
    void for_each(const std::function<void(const std::string&, ZipReader&)>& take) const;

private:
    std::filesystem::path path_;
};

/// The three documents of an archive: the program, and where the values of its tensors lie.
struct ArchiveDocuments {
    Json program, weights, constants;
};

/// errors  invalid_argument when one is absent, too large or no JSON
ArchiveDocuments read_documents(const ArchiveMembers& members, std::int64_t program_bytes_max);

/// torch.dtype by its number in the schema.
struct StoredType {
    int code;
    std::string_view name;
    std::size_t bytes;    ///< of an element in the file
    DType dtype;          ///< of the array that is made of it
};

/// Of a tensor's description; `name` is for messages.
/// errors  invalid_argument for types that are not read
const StoredType& stored_type(const Json& meta, const std::string& name);
/// Its extents; one that depends on the batch is -1.
Dims stored_dims(const Json& meta, const std::string& name);

}    // namespace slipway::importer
