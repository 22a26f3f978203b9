#include "server/main/launcher_options.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/batch.h"

namespace slipway {

namespace {

const std::map<std::string, LauncherKind> kinds{{"local", LauncherKind::local},
                                                {"slurm", LauncherKind::slurm}};

bool is_partition_name(const std::string& name) {
    return std::ranges::all_of(name, [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.' ||
               letter == ',';
    });
}

}    // namespace

void add_launcher_options(CLI::App& app, Options& options) {
    app.add_option("--launcher", options.launcher,
                   "how attempts of jobs are run: local, as processes of this machine; slurm, as "
                   "jobs of Slurm on the nodes that it chooses")
        ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case).description(""))
        ->type_name("WORD");
    app.add_option("--slurm-partition", options.slurm_partition,
                   "Slurm partition to submit to; default: Slurm's own default");
    app.add_option(
        "--slurm-options", options.slurm_options,
        "additional options of sbatch for every job, such as \"--account=ml --qos=low\"");
}

std::string launcher_word(LauncherKind kind) {
    return kind == LauncherKind::slurm ? "slurm" : "local";
}

void check_launcher_options(const Options& options) {
    if (!is_partition_name(options.slurm_partition))
        throw CLI::ValidationError(
            "--slurm-partition",
            "must have letters, digits and ._-, only, got \"" + options.slurm_partition + "\"");
    try {
        parse_batch_options(options.slurm_options);
    } catch (const Error& error) {
        throw CLI::ValidationError("--slurm-options", error.what());
    }
    const bool given = !options.slurm_partition.empty() || !options.slurm_options.empty();
    if (given && options.launcher != LauncherKind::slurm)
        throw CLI::ValidationError(
            options.slurm_partition.empty() ? "--slurm-options" : "--slurm-partition",
            "has a meaning with --launcher slurm only");
}

}    // namespace slipway
