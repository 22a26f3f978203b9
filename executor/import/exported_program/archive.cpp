#include "executor/import/exported_program/archive.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <span>

#include "api/base/error.h"
#include "api/base/parsed_json.h"

namespace slipway::importer {

namespace {

constexpr std::int64_t table_bytes_max = std::int64_t{64} << 20;
constexpr std::size_t rank_max = 16;

constexpr std::array stored_types{
    StoredType{1, "uint8", 1, DType::i64},   StoredType{2, "int8", 1, DType::i64},
    StoredType{3, "int16", 2, DType::i64},   StoredType{4, "int32", 4, DType::i64},
    StoredType{5, "int64", 8, DType::i64},   StoredType{6, "float16", 2, DType::f32},
    StoredType{7, "float32", 4, DType::f32}, StoredType{8, "float64", 8, DType::f32},
    StoredType{12, "bool", 1, DType::pred},  StoredType{13, "bfloat16", 2, DType::f32}};

std::string read_text(const std::string& name, ZipReader& reader, std::int64_t bytes_max) {
    std::string text;
    constexpr std::size_t block = std::size_t{1} << 16;
    for (;;) {
        const std::size_t held = text.size();
        text.resize(held + block);
        const std::size_t got = reader.read(std::as_writable_bytes(std::span(text).subspan(held)));
        text.resize(held + got);
        if (std::int64_t(text.size()) > bytes_max)
            refuse_program(fmt::format("{} is larger than {} bytes", name, bytes_max));
        if (got < block) return text;
    }
}

Json parse(const std::string& name, const std::string& text) {
    Result<ParsedJson> parsed = parse_json(
        text, {.bytes_max = std::size_t(table_bytes_max), .depth_max = 40, .items_max = 1'000'000});
    if (!parsed) refuse_program(fmt::format("{} is not JSON: {}", name, parsed.error().what()));
    return std::move(parsed).value().value;
}

/// An extent that depends on the batch is -1.
std::int64_t extent_of(const Json& size) {
    return size.contains("as_int") ? size.at("as_int").get<std::int64_t>() : -1;
}

}    // namespace

void refuse_program(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

void ArchiveMembers::for_each(
    const std::function<void(const std::string&, ZipReader&)>& take) const {
    UniqueFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        throw Error(ErrorCode::not_found, fmt::format("there is no file {}", path_.string()));
    ZipReader reader(std::move(file), path_.filename().string());
    std::string name;
    std::set<std::string> seen;
    while (reader.next(name)) {
        const std::size_t folder = name.find('/');
        std::string inner = folder == std::string::npos ? name : name.substr(folder + 1);
        if (!seen.insert(inner).second)
            refuse_program(fmt::format("the file has two members named {}", inner));
        take(inner, reader);
    }
}

ArchiveDocuments read_documents(const ArchiveMembers& members, std::int64_t program_bytes_max) {
    std::map<std::string, Json> found;
    bool is_older = false;
    members.for_each([&](const std::string& name, ZipReader& reader) {
        const bool is_program = name == "models/model.json";
        is_older = is_older || name == "serialized_exported_program.json";
        if (is_program || name == "data/weights/model_weights_config.json" ||
            name == "data/constants/model_constants_config.json")
            found[name] = parse(
                name, read_text(name, reader, is_program ? program_bytes_max : table_bytes_max));
    });
    const auto take = [&](const char* name) {
        const auto at = found.find(name);
        return at == found.end() ? Json{{"config", Json::object()}} : std::move(at->second);
    };
    if (!found.contains("models/model.json"))
        refuse_program(
            is_older ? "the file was written by a torch older than 2.9; export it with a newer "
                       "one"
                     : "the file has no models/model.json: it is not what torch.export.save "
                       "writes. Write it with torch.export.save(torch.export.export(…), path)");
    return {take("models/model.json"), take("data/weights/model_weights_config.json"),
            take("data/constants/model_constants_config.json")};
}

const StoredType& stored_type(const Json& meta, const std::string& name) {
    const int code = meta.at("dtype").get<int>();
    for (const StoredType& type : stored_types)
        if (type.code == code) return type;
    refuse_program(
        fmt::format("{} has elements of the type {} of torch's ScalarType, which is not read; "
                    "convert the module with module.float()",
                    name, code));
}

Dims stored_dims(const Json& meta, const std::string& name) {
    Dims dims;
    for (const Json& size : meta.at("sizes"))
        dims.push_back(extent_of(size));
    if (dims.size() > rank_max)
        refuse_program(
            fmt::format("{} has {} dimensions; at most {} are read", name, dims.size(), rank_max));
    return dims;
}

}    // namespace slipway::importer
