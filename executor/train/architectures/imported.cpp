#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "executor/import/exported_program.h"
#include "executor/import/imported_network.h"
#include "executor/train/architectures/architecture.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

/// From a checkpoint the graph alone: its values are loaded as those of any network.
importer::ExportedProgram read_program(const NetworkSource& source) {
    if (source.empty())
        throw TrainError("spec_error",
                         "model.from names no file, and no checkpoint has the network");
    if (!std::filesystem::is_directory(source)) return importer::read_exported_program(source);
    std::ifstream file(source / importer::network_file_name, std::ios::binary);
    if (!file)
        throw TrainError("checkpoint_incompatible",
                         fmt::format("{} has no {}: it is not of an imported network",
                                     source.filename().string(), importer::network_file_name));
    try {
        return {.network = importer::decode_network({std::istreambuf_iterator<char>(file), {}}),
                .values = {}};
    } catch (const Error& error) {
        throw TrainError(unusable_reason(error),
                         fmt::format("{}: {}", source.filename().string(), error.what()));
    }
}

}    // namespace

void build_imported(Model& model, Init&, const NetworkRequest& request) {
    try {
        const importer::ExportedProgram program = read_program(request.source);
        const importer::ImportedNetwork network = importer::ImportedNetwork::create(
            model.parameters, std::make_shared<const importer::Network>(program.network),
            program.values,
            {.sample_dims = request.sample_dims,
             .outputs = request.classes,
             .batch_size = request.spec.train.batch_size_per_core,
             .sync_norms = normalizes_together(request.spec)});
        model.dropout = network.dropout;
        model.head = network.head;
        model.warning = network.warning;
        model.forward = network;
        model.files = {{importer::network_file_name, importer::encode_network(program.network)}};
    } catch (const TrainError&) {
        throw;
    } catch (const Error& error) {    // a file that does not fit is the user's to change
        if (error.code() != ErrorCode::invalid_argument) throw;
        throw TrainError("spec_error", fmt::format("model.from: {}", error.what()));
    }
}

}    // namespace slipway
