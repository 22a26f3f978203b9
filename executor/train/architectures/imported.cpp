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
import::ExportedProgram read_program(const NetworkSource& source){
    if (source.empty()) throw TrainError(
        "spec_error", "model.from names no file, and no checkpoint has the network");
if (!std::filesystem::is_directory(source)) return import::read_exported_program(source);
const std::filesystem::path path = source / import::network_file_name;
std::ifstream file(path, std::ios::binary);
if (!file)
    throw TrainError("checkpoint_incompatible",
                     fmt::format("{} has no {}: it is not of an imported network",
                                 source.filename().string(), import::network_file_name));
return {.network = import::decode_network({std::istreambuf_iterator<char>(file), {}}),
        .values = {}};
}    // namespace

}    // namespace slipway

void build_imported(Model& model, Init&, const NetworkRequest& request) {
    try {
        const import::ExportedProgram program = read_program(request.source);
        const import::ImportedNetwork network = import::ImportedNetwork::create(
            model.parameters, std::make_shared<const import::Network>(program.network),
            program.values,
            {.sample_dims = request.sample_dims,
             .outputs = request.classes,
             .batch_size = request.spec.train.batch_size_per_core,
             .sync_norms = normalizes_together(request.spec)});
        model.dropout = network.dropout;
        model.head = network.head;
        model.warning = network.warning;
        model.forward = network;
        model.files = {{import::network_file_name, import::encode_network(program.network)}};
    } catch (const TrainError&) {
        throw;
    } catch (const Error& error) {    // a file that does not fit is the user's to change
        if (error.code() != ErrorCode::invalid_argument) throw;
        throw TrainError("spec_error", fmt::format("model.from: {}", error.what()));
    }
}

}    // namespace slipway
