#include "scheduler/launcher/slurm/queue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/base/error.h"
#include "api/base/log.h"
#include "scheduler/launcher/slurm/command.h"

// Slurm's commands and not its library: their output is what its manual describes, its library
// changes with each version and is under the GPL. A command waits for the controller, so who must
// not wait (the thread that watches processes, the one that renews leases) gives orders to the
// thread here or is told at once that Slurm did not answer a moment ago.
namespace slipway {

namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// What it said, or how it ended.
std::string words_of(const CommandResult& result, std::chrono::milliseconds limit) {
    if (result.timed_out) return fmt::format("no answer within {} s", limit.count() / 1000.0);
    std::string said;
    std::string_view rest = result.error;
    while (!rest.empty()) {
        const std::string line = first_line(std::string(rest));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (!line.empty()) said += (said.empty() ? "" : "; ") + line;
    }
    return said.empty() ? fmt::format("exit code {}", result.status) : said;
}

}    // namespace

SlurmQueue::SlurmQueue(SlurmQueueOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {
    thread_ = std::thread([this] { work(); });
}

SlurmQueue::~SlurmQueue() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

/// The output of a command that ended well.
std::string SlurmQueue::run(const std::vector<std::string>& words, const std::string& input,
                            ErrorCode code) {
    {
        const std::scoped_lock lock(mutex_);
        if (clock_.tick() < silent_until_)
            throw Error{code, fmt::format("Slurm does not answer: {}", trouble_)};
    }
    std::string said;
    bool silent = false;
    try {
        const CommandResult result =
            run_command(words, {.input = input, .limit = options_.command_max});
        if (result.good()) {
            const std::scoped_lock lock(mutex_);
            trouble_.clear();
            return result.output;
        }
        said = fmt::format("{}: {}", words.front(), words_of(result, options_.command_max));
        // Refused by the controller, or not heard by it.
        silent = result.timed_out || said.find("contact") != std::string::npos;
    } catch (const Error& error) {
        said = error.what();
        silent = true;
    }
    const std::scoped_lock lock(mutex_);
    if (silent) {
        silent_until_ = clock_.tick() + options_.pause;
        trouble_ = said;
    }
    throw Error{code, said};
}

std::int64_t SlurmQueue::submit(const BatchRequest& request) {
    const std::string said =
        run(submit_command(request, options_.batch), batch_script(request), ErrorCode::unavailable);
    const auto number = read_submitted(said);
    if (!number)
        throw Error{ErrorCode::unavailable,
                    fmt::format("sbatch gave no number of a job: {}", first_line(said))};
    return *number;
}

void SlurmQueue::release(std::int64_t number) {
    run({"scontrol", "release", fmt::to_string(number)}, {}, ErrorCode::unavailable);
    changed_.notify_all();
}

std::vector<SlurmJobLine> SlurmQueue::look() {
    return parse_job_lines(run(job_line_command(), {}, ErrorCode::exhausted));
}

std::shared_ptr<SlurmQueue::Watch> SlurmQueue::watch(const std::string& name, std::int64_t number,
                                                     const std::string& comment,
                                                     std::function<bool()> has_ended) {
    auto made = std::make_shared<Watch>(name, number, comment, std::move(has_ended));
    {
        const std::scoped_lock lock(mutex_);
        watched_.push_back(made);
    }
    changed_.notify_all();
    return made;
}

std::vector<std::shared_ptr<SlurmQueue::Watch>> SlurmQueue::find(const std::string& prefix) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Watch>> found;
    for (const std::weak_ptr<Watch>& one : watched_) {
        auto held = one.lock();
        if (held && held->name().starts_with(prefix)) found.push_back(std::move(held));
    }
    return found;
}

void SlurmQueue::order(std::vector<std::string> words) {
    {
        const std::scoped_lock lock(mutex_);
        // Said again and again while Slurm does not answer.
        if (std::ranges::find(orders_, words) != orders_.end()) return;
        orders_.push_back(std::move(words));
    }
    changed_.notify_all();
}

void SlurmQueue::signal(std::int64_t number, const std::string& name) {
    order({"scancel", "--quiet", "--full", "--signal=" + name, fmt::to_string(number)});
}

void SlurmQueue::cancel(std::int64_t number) {
    order({"scancel", "--quiet", fmt::to_string(number)});
}

std::string SlurmQueue::trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
}

void SlurmQueue::work() {
    Tick look_next{};
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        std::erase_if(watched_, [](const std::weak_ptr<Watch>& one) { return one.expired(); });
        const auto due = [&] {
            return stopping_ || !orders_.empty() ||
                   (!watched_.empty() && clock_.tick() >= look_next);
        };
        // One that is new soon after a look is not due yet: what waits for it without a limit of
        // time must end all the same.
        if (watched_.empty())
            changed_.wait(lock,
                          [this] { return stopping_ || !orders_.empty() || !watched_.empty(); });
        else
            changed_.wait_for(lock, options_.look_every, due);
        if (stopping_) break;
        std::deque<std::vector<std::string>> orders = std::exchange(orders_, {});
        lock.unlock();
        run_orders(std::move(orders));
        if (clock_.tick() >= look_next) {
            look_at_watched();
            look_next = clock_.tick() + options_.look_every;
        }
        lock.lock();
    }
}

void SlurmQueue::run_orders(std::deque<std::vector<std::string>> orders) {
    for (const std::vector<std::string>& words : orders) {
        try {
            run(words, {}, ErrorCode::unavailable);
        } catch (const Error& error) {
            // A job that has ended meanwhile, or Slurm is away: who wants it ended says so again.
            log_info(
                "Slurm did not do as it was told",
                {{"command", fmt::format("{}", fmt::join(words, " "))}, {"reason", error.what()}});
        }
    }
}

void SlurmQueue::look_at_watched() {
    // Before the look: what is submitted during it may not be in it.
    const std::vector<std::shared_ptr<Watch>> present = find({});
    if (present.empty()) return;
    for (const std::shared_ptr<Watch>& one : present)
        one->look_at_task();
    const bool was_well = trouble().empty();
    try {
        const std::vector<SlurmJobLine> jobs = look();
        for (const std::shared_ptr<Watch>& one : present)
            one->see(jobs, clock_.tick());
        if (!was_well) log_info("Slurm answers again", {});
    } catch (const Error& error) {
        if (was_well) log_warn("Slurm does not answer", {{"reason", error.what()}});
    }
}

void SlurmQueue::Watch::see(const std::vector<SlurmJobLine>& jobs, Tick now) {
    const auto found = std::ranges::find_if(jobs, [this](const SlurmJobLine& job) {
        return job.number == number_ && job.comment == comment_;
    });
    const std::scoped_lock lock(mutex_);
    if (facts_.has_ended()) return;
    if (found == jobs.end()) {
        facts_.gone = true;
    } else {
        facts_.line = *found;
        facts_.known = true;
        if (!facts_.runs_since && stage_of(found->state) == SlurmStage::running)
            facts_.runs_since = now;
    }
    if (facts_.has_ended()) tell_end();
}

void SlurmQueue::Watch::look_at_task() {
    if (!has_ended_ || facts().task_ended || !has_ended_()) return;
    const std::scoped_lock lock(mutex_);
    facts_.task_ended = true;
    tell_end();
}

void SlurmQueue::Watch::tell_end() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = write(ended_.get(), &one, sizeof(one));
}

}    // namespace slipway
