#include "scheduler/launcher/slurm/job_line.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>

// One squeue for all jobs: it asks the controller once, and knows jobs for some minutes after their
// end (MinJobAge), so no accounting is needed. Its job_fields have fixed widths, which are chosen
// so that nothing is cut that is compared: what would be cut is longer than we make it.
namespace slipway {

namespace {

struct Field {
    const char* name;
    int width;
};

constexpr std::array<Field, 7> job_fields{{{"JobID", 24},
                                           {"State", 32},
                                           {"exit_code", 16},
                                           {"Reason", 128},
                                           {"comment", 128},
                                           {"BatchHost", 128},
                                           {"NodeList", 256}}};

struct StageOfState {
    std::string_view state;
    SlurmStage stage;
};

constexpr StageOfState stages[] = {
    {"PENDING", SlurmStage::waiting},       {"CONFIGURING", SlurmStage::waiting},
    {"REQUEUE_HOLD", SlurmStage::waiting},  {"REQUEUED", SlurmStage::waiting},
    {"REQUEUE_FED", SlurmStage::waiting},   {"SPECIAL_EXIT", SlurmStage::waiting},
    {"RESV_DEL_HOLD", SlurmStage::waiting}, {"COMPLETED", SlurmStage::ended},
    {"CANCELLED", SlurmStage::ended},       {"FAILED", SlurmStage::ended},
    {"TIMEOUT", SlurmStage::ended},         {"NODE_FAIL", SlurmStage::ended},
    {"PREEMPTED", SlurmStage::ended},       {"BOOT_FAIL", SlurmStage::ended},
    {"DEADLINE", SlurmStage::ended},        {"OUT_OF_MEMORY", SlurmStage::ended},
    {"REVOKED", SlurmStage::ended}};

constexpr std::string_view taken_away[] = {"NODE_FAIL", "BOOT_FAIL", "REVOKED", "PREEMPTED"};

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// None: not of the form. A value that has the separator in it was made by another program.
std::optional<std::array<std::string_view, job_fields.size()>> split_line(std::string_view line) {
    std::array<std::string_view, job_fields.size()> parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto width = std::size_t(job_fields[i].width);
        if (line.size() < width + 1 || line[width] != '|') return std::nullopt;
        parts[i] = without_blanks(line.substr(0, width));
        line.remove_prefix(width + 1);
    }
    return parts;
}

template <class T>
bool read_number(std::string_view text, T& value) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

/// "001-003,7" behind the beginning of the names.
void add_numbered(const std::string& begin, std::string_view ranges,
                  std::vector<std::string>& names) {
    constexpr int nodes_max = 4096;
    while (!ranges.empty()) {
        const std::string_view range = ranges.substr(0, ranges.find(','));
        ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
        const std::size_t dash = range.find('-');
        const std::string_view first_text = range.substr(0, dash);
        int first = 0, last = 0;
        if (!read_number(first_text, first)) return;
        last = first;
        if (dash != std::string_view::npos && !read_number(range.substr(dash + 1), last)) return;
        for (int i = first; i <= last && i - first < nodes_max; ++i)
            names.push_back(fmt::format("{}{:0{}}", begin, i, first_text.size()));
    }
}

}    // namespace

SlurmStage stage_of(std::string_view state) {
    const auto* const found = std::ranges::find(stages, state, &StageOfState::state);
    return found == std::end(stages) ? SlurmStage::running : found->stage;
}

bool is_held(const SlurmJobLine& job) {
    return stage_of(job.state) == SlurmStage::waiting && job.reason.starts_with("JobHeld");
}

std::vector<std::string> job_line_command() {
    std::string format;
    for (const Field& field : job_fields)
        format += fmt::format("{}{}:{}|", format.empty() ? "" : ",", field.name, field.width);
    return {"squeue", "--me", "--all", "--noheader", "--states=all", "--Format=" + format};
}

std::vector<SlurmJobLine> parse_job_lines(std::string_view text) {
    std::vector<SlurmJobLine> jobs;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        SlurmJobLine job;
        // A task of an array, which is not ours, has another form of number.
        if (!read_number(without_blanks(line.substr(0, job_fields[0].width)), job.number)) continue;
        const auto parts = split_line(line);
        if (parts && read_number((*parts)[2], job.wait_status)) {
            job.state = (*parts)[1];
            job.reason = (*parts)[3];
            job.comment = (*parts)[4];
            if ((*parts)[5] != "n/a") job.node = (*parts)[5];
            job.nodes = (*parts)[6];
        }
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::vector<std::string> expand_nodes(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const std::size_t open = list.find_first_of("[,");
        const std::string name(list.substr(0, open));
        if (open == std::string_view::npos || list[open] == ',') {
            if (!name.empty()) names.push_back(name);
            if (open == std::string_view::npos) break;
            list.remove_prefix(open + 1);
            continue;
        }
        const std::size_t close = list.find(']', open);
        if (close == std::string_view::npos) break;
        add_numbered(name, list.substr(open + 1, close - open - 1), names);
        list.remove_prefix(std::min(list.size(), close + 1));
        if (!list.empty() && list.front() != ',') break;    // more than one number in a name
    }
    return names;
}

bool was_taken_away(std::string_view state) {
    return std::ranges::find(taken_away, state) != std::end(taken_away);
}

std::optional<ProcessExit> exit_of_job(const SlurmJobLine& job) {
    // Then the status is not that of the program.
    if (was_taken_away(job.state) || job.state == "DEADLINE") return std::nullopt;
    if (job.node.empty()) return std::nullopt;
    if (WIFSIGNALED(job.wait_status)) {
        const int signal = WTERMSIG(job.wait_status);
        return ProcessExit{
            .status = 128 + signal, .killed = signal == SIGKILL, .exceeded_cpu = signal == SIGXCPU};
    }
    return ProcessExit{.status = WEXITSTATUS(job.wait_status)};
}

}    // namespace slipway
