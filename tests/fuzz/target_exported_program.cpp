#include <fmt/core.h>

#include "executor/import/exported_program.h"
#include "executor/import/imported_network.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// What is said of a network that is built for samples of four columns.
std::string built(const importer::ExportedProgram& program) {
    ParameterList parameters;
    try {
        importer::ImportedNetwork::create(
            parameters, std::make_shared<const importer::Network>(program.network), program.values,
            {.sample_dims = {4}, .outputs = 2, .batch_size = 2});
    } catch (const Error& error) {
        check(error.code() == ErrorCode::invalid_argument, "what does not fit is said as such");
        return error.what();
    }
    return fmt::format("{} tensors", parameters.names().size());
}

}    // namespace

std::string run_exported_program(std::span<const std::byte> input) {
    const TempFolder folder;
    const auto file = folder.write("network.pt2", text_of(input));
    importer::ExportedProgram program;
    try {
        program = importer::read_exported_program(
            file, {.program_bytes_max = 1 << 20, .values_bytes_max = 1 << 22});
    } catch (const Error& error) {
        return error.what();
    }
    check(importer::decode_network(importer::encode_network(program.network)) == program.network,
          "a network is the same after it was stored");
    return built(program);
}

}    // namespace slipway
