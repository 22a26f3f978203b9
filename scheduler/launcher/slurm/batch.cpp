#include "scheduler/launcher/slurm/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "api/base/error.h"

namespace slipway {

namespace {

/// Of sbatch. Who may give them decides where and for whom jobs run, and not what runs.
constexpr std::string_view free_options[] = {"--account",
                                             "--qos",
                                             "--constraint",
                                             "--reservation",
                                             "--nodelist",
                                             "--exclude",
                                             "--time",
                                             "--nice",
                                             "--gres",
                                             "--licenses",
                                             "--exclusive",
                                             "--hint",
                                             "--clusters",
                                             "--cluster-constraint",
                                             "--prefer",
                                             "--mail-type",
                                             "--mail-user",
                                             "--oversubscribe",
                                             "--wckey",
                                             "--priority",
                                             "--container",
                                             "--tmp",
                                             "--extra-node-info",
                                             "--threads-per-core"};

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// For sh, whatever is in it.
std::string quoted(const std::string& text) {
    std::string made = "'";
    for (const char letter : text) {
        if (letter == '\'')
            made += "'\\''";
        else
            made += letter;
    }
    return made + "'";
}

}    // namespace

std::vector<std::string> parse_batch_options(std::string_view text) {
    std::vector<std::string> words;
    std::istringstream stream{std::string(text)};
    for (std::string word; stream >> word;) {
        const std::string name = word.substr(0, word.find('='));
        if (std::ranges::find(free_options, name) == std::end(free_options))
            throw Error{
                ErrorCode::invalid_argument,
                fmt::format("\"{}\" is not among the options of sbatch that can be given: {}", word,
                            fmt::join(free_options, ", "))};
        words.push_back(std::move(word));
    }
    return words;
}

std::vector<std::string> submit_command(const BatchRequest& request, const BatchOptions& options) {
    std::vector<std::string> words{"sbatch", "--parsable", "--hold"};
    if (!options.partition.empty()) words.push_back("--partition=" + options.partition);
    constexpr std::string_view exclude = "--exclude=";
    std::vector<std::string> excluded = request.excluded;
    for (const std::string& option : options.options) {
        if (option.starts_with(exclude))    // the last one would be the only one
            excluded.push_back(option.substr(exclude.size()));
        else
            words.push_back(option);
    }
    if (!excluded.empty()) words.push_back(fmt::format("{}{}", exclude, fmt::join(excluded, ",")));
    words.insert(
        words.end(),
        {"--job-name=" + request.name, "--comment=" + request.comment,
         fmt::format("--nodes={}", request.nodes), fmt::format("--ntasks={}", request.nodes),
         "--ntasks-per-node=1", fmt::format("--cpus-per-task={}", request.cores),
         // Slipway makes a new attempt from the last checkpoint; the same one again would
         // write where this one has written.
         "--no-requeue",
         // What is written and where is opened by us, without following a link.
         "--chdir=/", "--input=/dev/null", "--output=/dev/null", "--error=/dev/null",
         "--export=ALL", "--propagate=NONE"});
    if (request.memory_bytes > 0)
        words.push_back(fmt::format("--mem={}M", (request.memory_bytes + mebibyte - 1) / mebibyte));
    return words;
}

std::string batch_script(const BatchRequest& request) {
    if (request.nodes > 1)
        // The tasks start together, and one that ends with another code than 0 ends all.
        return fmt::format(
            "#!/bin/sh\nPATH={} exec srun --mpi=none --kill-on-bad-exit=1 --wait=0 --nodes={} "
            "--ntasks={} --ntasks-per-node=1 --cpus-per-task={} --input=none --output=/dev/null "
            "--error=/dev/null --export=ALL {} --member {}\n",
            quoted(request.program_path), request.nodes, request.nodes, request.cores,
            quoted(request.starter.string()), quoted(request.order.string()));
    return fmt::format("#!/bin/sh\nexec {} {}\n", quoted(request.starter.string()),
                       quoted(request.order.string()));
}

std::optional<std::int64_t> read_submitted(std::string_view output) {
    // "NUMBER", or "NUMBER;CLUSTER".
    std::int64_t number = 0;
    const auto parsed = std::from_chars(output.data(), output.data() + output.size(), number);
    if (parsed.ec != std::errc{} || number <= 0) return std::nullopt;
    const std::string_view rest(parsed.ptr, output.data() + output.size());
    if (!rest.empty() && rest.front() != '\n' && rest.front() != ';') return std::nullopt;
    return number;
}

}    // namespace slipway
