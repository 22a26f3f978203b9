#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// One program to run as a job of Slurm; on several nodes one task of it on each.
struct BatchRequest {
    std::string name;                 ///< of the job
    std::string comment;              ///< by which it is known again
    int cores = 1;                    ///< on each node
    std::int64_t memory_bytes = 0;    ///< on each node; 0: what the partition gives
    std::filesystem::path starter;    ///< the program slipway-slurm-start
    std::filesystem::path order;      ///< the file that it reads; on several nodes the folder
    int nodes = 1;
    std::string program_path = {};             ///< where srun is looked for, on several nodes
    std::vector<std::string> excluded = {};    ///< nodes that it does not run on
};

/// Where jobs go.
struct BatchOptions {
    std::string partition = {};               ///< empty: Slurm's default
    std::vector<std::string> options = {};    ///< of sbatch, as check_batch_options() accepts them
};

/// The words of a text of options for sbatch ("--account=ml --qos=low"), separated by blanks.
/// errors  throws invalid_argument for what is no long option with its value after =, and for an
///         option that Slipway sets itself or that would break what it relies on
std::vector<std::string> parse_batch_options(std::string_view text);

/// The command that submits it, held: it does not start before it is released.
std::vector<std::string> submit_command(const BatchRequest& request, const BatchOptions& options);
/// The script that it reads from stdin.
std::string batch_script(const BatchRequest& request);

/// The job's number in what sbatch said; none when it said something else.
std::optional<std::int64_t> read_submitted(std::string_view output);

}    // namespace slipway
