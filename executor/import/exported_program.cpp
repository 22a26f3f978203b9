// The archive is a zip: NAME/models/model.json is the program, NAME/data/weights/ and
// NAME/data/constants/ hold raw bytes with one JSON table each. The tables stand behind the bytes,
// so the file is read twice: first the three JSON documents, then the members that they name.
#include "executor/import/exported_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/error.h"
#include "executor/data/problem.h"
#include "executor/import/exported_program/archive.h"
#include "executor/import/exported_program/program.h"
#include "executor/import/exported_program/values.h"

namespace slipway::importer {

namespace fs = std::filesystem;

namespace {

/// Constants without dims become part of the network: its text needs no file then.
void fold_numbers(ExportedProgram& program) {
    for (NetworkInput& input : program.network.inputs) {
        if (input.kind != InputKind::constant || !input.dims.empty()) continue;
        const auto value = std::ranges::find(program.values, input.target, &NamedArray::name);
        if (input.dtype == DType::f32)
            input.number = value->array.as<float>()[0];
        else if (input.dtype == DType::i64)
            input.number = double(value->array.as<std::int64_t>()[0]);
        else
            input.number = value->array.as<bool>()[0] ? 1 : 0;
        program.values.erase(value);
    }
}

ExportedProgram read(const fs::path& path, const ReadLimits& limits) {
    const ArchiveMembers members(path);
    const ArchiveDocuments documents = read_documents(members, limits.program_bytes_max);
    ExportedProgram program{.network = network_of(documents.program), .values = {}};
    // A zip member inflates to at most 100 times the size of the file.
    const std::int64_t inflated_max = 100 * std::int64_t(fs::file_size(path)) + (64 << 20);
    program.values = read_values(members, documents, program.network,
                                 std::min(limits.values_bytes_max, inflated_max));
    fold_numbers(program);
    return program;
}

}    // namespace

ExportedProgram read_exported_program(const fs::path& path, const ReadLimits& limits) {
    try {
        return read(path, limits);
    } catch (const Json::exception& error) {    // a member that is absent or of another kind
        refuse_program(
            fmt::format("the program is not of torch.export's schema: {}", error.what()));
    } catch (const DataError& error) {
        refuse_program(error.what());
    }
}

}    // namespace slipway::importer
