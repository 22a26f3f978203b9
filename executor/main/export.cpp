#include "executor/main/export.h"

#include <CLI/CLI.hpp>

#include "executor/checkpoint/export_weights.h"

namespace slipway {

CLI::App* add_export(CLI::App& app, ExportCommand& command) {
    CLI::App* one = app.add_subcommand(
        "export", "Writes a checkpoint's weights as one safetensors file for other frameworks");
    one->add_option("checkpoint", command.checkpoint, "Folder of the checkpoint")->required();
    one->add_option("--out", command.out, "The file to write")->required();
    one->add_option("--dtype", command.dtype, "f32 or bf16; default: f32")
        ->check(CLI::IsMember({"f32", "bf16"}));
    one->add_option("--weights", command.weights,
                    "average: the moving average where the job keeps one; raw: the weights that "
                    "training continues with; default: average")
        ->check(CLI::IsMember({"average", "raw"}));
    return one;
}

void run_export(const ExportCommand& command) {
    export_weights(command.checkpoint, command.out,
                   {.dtype = command.dtype == "bf16" ? DType::bf16 : DType::f32,
                    .raw = command.weights == "raw"});
}

}    // namespace slipway
