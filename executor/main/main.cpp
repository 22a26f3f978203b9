// The executor's command line: one attempt under an agent, a job by hand, one look at a dataset,
// its division, or one measurement.

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "api/base/printable.h"
#include "api/base/version.h"
#include "api/spec/event.h"
#include "executor/cache/environment.h"
#include "executor/data/dataset.h"
#include "executor/main/attempt.h"
#include "executor/main/bench.h"
#include "executor/main/export.h"
#include "executor/main/inspect.h"
#include "executor/main/job_kinds.h"
#include "executor/main/run_local.h"
#include "executor/main/split.h"
#include "executor/main/worker.h"
#include "executor/processor/instruction_set.h"
#include "executor/train/kept_parts.h"
#include "executor/train/run.h"

namespace {

using namespace slipway;

CLI::App* add_inspect(CLI::App& app, InspectOptions& look, const std::string& formats) {
    CLI::App* inspect = app.add_subcommand("inspect", "Checks a dataset and prints a JSON report");
    inspect->add_option("--format", look.format, formats)->required();
    inspect->add_option("--path", look.path, "The dataset");
    inspect->add_option("--options", look.options, "Options of the dataset, as a JSON object");
    auto* unpack = inspect->add_option("--unpack", look.unpack, "Archive or file to unpack first");
    auto* into = inspect->add_option("--into", look.into, "Folder that --unpack makes");
    inspect->add_option("--name", look.name, "What a single unpacked file was called");
    inspect->add_flag("--preview", look.preview, "Also show some samples");
    inspect->add_option("--threads", look.threads, "Default: one per CPU")
        ->check(CLI::Range(0, 64));
    inspect->add_option("--keep-hash-in", look.memory,
                        "Folder of decoded copies: attempts need not read the files again");
    unpack->needs(into);
    into->needs(unpack);
    return inspect;
}

void add_run(CLI::App& app, RunLocalOptions& alone, const std::string& formats) {
    CLI::App* by_hand =
        app.add_subcommand("run", "Trains a job on this machine, without a service");
    by_hand->add_option("job", alone.job, "Job spec, as it would be posted")->required();
    by_hand
        ->add_option("--out", alone.out,
                     "Folder for metrics.csv, frames.ndjson, checkpoints/, report.txt, trace.json")
        ->required();
    by_hand->add_option("--data", alone.data, "The dataset; default: data.dataset as a path");
    by_hand->add_option("--format", alone.format, formats + "; default: guessed");
    by_hand->add_option("--options", alone.data_options,
                        "Options of the dataset, as a JSON object");
    by_hand
        ->add_option("--workers", alone.workers,
                     "Worker threads; default: as many as pay, at most one for each CPU")
        ->check(CLI::Range(0, 64));
    by_hand->add_option("--cache", alone.cache, "Folder of compiled code that runs share");
    by_hand->add_option("--packed", alone.packed, "Folder of packed images that runs share");
    by_hand->add_flag("--resume", alone.resume, "Continue from the newest checkpoint in --out");
}

/// Checkpoints name the build that wrote them.
Trainer signed_by_us(Trainer trainer) {
    return [trainer = std::move(trainer)](const AttemptPlan& plan, Reporter& reporter) {
        AttemptPlan signed_plan = plan;
        signed_plan.writer = {.program = fmt::format("slipway-executor {}", release_version()),
                              .build = build_mark(),
                              .instruction_set = std::string(to_string(instruction_set()))};
        return trainer(signed_plan, reporter);
    };
}

/// Who starts us on another machine knows its address, and who wrote the order does not.
Trainer reached_at(const std::string& address, Trainer trainer) {
    if (address.empty()) return trainer;
    return [address, trainer = std::move(trainer)](const AttemptPlan& plan, Reporter& reporter) {
        AttemptPlan placed = plan;
        if (placed.member) placed.member->bind_address = address;
        return trainer(placed, reporter);
    };
}

/// The words of the command line from the run folder on: they lie one after the other.
std::span<char> words_from(const std::filesystem::path& run_folder, int argc, char** argv) {
    const auto found = std::find(argv, argv + argc, run_folder.string());
    if (found == argv + argc) return {};
    char* const last = argv[argc - 1];
    return {*found, last + std::strlen(last) + 1};
}

int run_staying(const std::filesystem::path& run_folder, int argc, char** argv) {
    OrderSocket orders{UniqueFd(worker_socket_fd)};
    KeptParts kept;
    const Trainer trainer = [&kept](AttemptPlan plan, Reporter& reporter) {
        plan.kept = &kept;
        return run_job(plan, reporter);
    };
    return run_worker(orders, signed_by_us(trainer), system_clock(),
                      words_from(run_folder, argc, argv));
}

/// What the command line asks for.
struct Request {
    std::string command;    ///< the subcommand's name
    std::filesystem::path run_folder;
    bool stay = false;
    std::string slice_address;
    RunLocalOptions alone;
    InspectOptions look;
    ExportCommand weights;
    SplitCommand division;
    BenchCommand measurement;
};

void add_attempt(CLI::App& app, Request& request) {
    CLI::App* attempt =
        app.add_subcommand("attempt", "Runs the attempt of a run folder (for the agent)");
    attempt->add_option("run_folder", request.run_folder, "Folder with attempt.json")->required();
    attempt->add_flag("--stay", request.stay,
                      "Take this attempt and others from the socket that is descriptor 3");
    attempt->add_option("--slice-address", request.slice_address,
                        "Address at which other members of a slice reach this one; default: that "
                        "of attempt.json");
}

/// Fills `request`; else what to exit with. What reads the command line ends here: an executor that
/// stays would keep its 160 KB.
std::optional<int> read_command_line(int argc, char** argv, Request& request) {
    CLI::App app{"Trains one job. Under a service it is started by the agent; by hand: run."};
    app.require_subcommand(1);
    const std::string formats = fmt::format("{}", fmt::join(dataset_formats(), ", "));
    add_attempt(app, request);
    add_run(app, request.alone, formats);
    const CLI::App* inspect = add_inspect(app, request.look, formats);
    add_export(app, request.weights);
    add_split(app, request.division);
    add_bench(app, request.measurement);
    app.add_subcommand("version", "Prints the version");
    app.set_version_flag("--version", fmt::format("slipway-executor {}", release_version()),
                         "Prints the version");
    try {
        app.parse(argc, argv);
        if (inspect->parsed() && request.look.path.empty() && request.look.unpack.empty())
            throw CLI::RequiredError("--path or --unpack");
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    }
    request.command = app.get_subcommands().front()->get_name();
    return std::nullopt;
}

int run_ordered_attempt(const Request& request, int argc, char** argv) {
    if (request.stay) return run_staying(request.run_folder, argc, argv);
    return run_attempt(request.run_folder, reached_at(request.slice_address, signed_by_us(run_job)),
                       system_clock());
}

int run(int argc, char** argv) {
    Request request;
    if (const auto code = read_command_line(argc, argv, request)) return *code;
    if (request.command == "attempt") return run_ordered_attempt(request, argc, argv);
    if (request.command == "run")
        return run_local(request.alone, signed_by_us(run_training), system_clock(), stdout);
    if (request.command == "export") {
        run_export(request.weights);
        return 0;
    }
    if (request.command == "version") fmt::print("slipway-executor {}\n", release_version());
    if (request.command == "inspect") fmt::print("{}\n", inspect_to_json(request.look));
    if (request.command == "split") fmt::print("{}\n", split_to_json(request.division));
    if (request.command == "bench") fmt::print("{}\n", bench_to_json(request.measurement));
    return 0;
}

}    // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fputs("slipway-executor: no memory is left\n", stderr);
        return slipway::exit_code_out_of_memory;
    } catch (const std::exception& error) {
        // Not fmt::print, which throws when it cannot write.
        std::fputs(
            fmt::format("slipway-executor: {}\n", slipway::printable_text(error.what())).c_str(),
            stderr);
        return slipway::exit_failed;
    }
}
