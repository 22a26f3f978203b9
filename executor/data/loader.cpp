// Batches are decoded ahead by threads and taken in order. A thread claims the next batch and
// its place in a queue of bounded length under the lock, decodes outside of it, and puts the
// result into its place; the consumer waits for the first place alone. So the order of batches
// never depends on which thread is fast, and memory is bounded by `batches_ahead`. What is drawn
// for a sample follows from its number and epoch, not from a thread's stream. After an error
// nothing more is claimed; batches before it are still taken, then it is thrown. Without threads
// the consumer decodes by itself: the same batches.
#include "executor/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace slipway {

namespace {

/// [batch_size, …shape], of zeros.
Array rows(std::int64_t batch_size, const Shape& shape) {
    Dims dims = shape.dims;
    dims.insert(dims.begin(), batch_size);
    return Array({shape.dtype, std::move(dims)});
}

/// Row `at` of a batch of `count`.
std::span<std::byte> row_of(Array& array, std::size_t at, std::size_t count) {
    const std::size_t size = std::size_t(array.byte_count()) / count;
    return {array.bytes() + at * size, size};
}

/// The step's samples in a ring, each mixed with the one before it: the first of the batch with one
/// that another batch of the step may have. Backwards, so that none is mixed before it is taken.
void mix(const Samples& samples, const GlobalBatch& batch, const SamplerOptions& options,
         const Mixing& mixing, LoadedBatch& loaded) {
    const auto size = std::size_t(options.batch_size_per_core);
    const SampleShape& shape = samples.shape();
    const Mix mix = draw_mix(
        mixing,
        {.epoch = batch.position.epoch, .step = batch.position.batch / options.batches_per_step},
        shape.features.dims);
    const auto row = [&](std::int64_t place) -> SampleRow {
        Batch& core = loaded.cores[std::size_t(place % options.cores)];
        const auto at = std::size_t(place / options.cores);
        return {row_of(core.features, at, size), row_of(core.labels, at, size)};
    };
    std::vector<float> features(std::size_t(shape.features.element_count()));
    std::vector<float> labels(std::size_t(shape.labels.element_count()));
    const SampleRow first{std::as_writable_bytes(std::span(features)),
                          std::as_writable_bytes(std::span(labels))};
    const std::int64_t count = batch.sample_count();
    if (count == batch.step_samples) {    // it is here already
        const SampleRow last = row(count - 1);
        std::ranges::copy(last.features, first.features.begin());
        std::ranges::copy(last.labels, first.labels.begin());
    } else {
        samples.read({.sample = batch.previous, .epoch = batch.position.epoch}, first);
    }
    for (std::int64_t place = count - 1; place >= 0; --place)
        mix_into(row(place), place > 0 ? row(place - 1) : first, mix, shape.features.dims);
}

void keep_only(const CoreRange& own, LoadedBatch& loaded) {
    const auto first = loaded.cores.begin() + own.first;
    loaded.cores = {std::make_move_iterator(first), std::make_move_iterator(first + own.count)};
    loaded.first_core = own.first;
}

}    // namespace

LoadedBatch load_batch(const Samples& samples, const GlobalBatch& batch,
                       const SamplerOptions& options, const Mixing& mixing, const CoreRange& own) {
    // A sample is mixed with one of another core: then all are read, and those of others dropped.
    const bool reads_all = own.count == 0 || !mixing.steps.empty();
    const CoreRange read = reads_all ? CoreRange{0, options.cores} : own;
    const auto size = std::size_t(options.batch_size_per_core);
    const auto cores = std::size_t(options.cores);
    const SampleShape& shape = samples.shape();
    LoadedBatch loaded{.position = batch.position,
                       .next = batch.next,
                       .sample_count = batch.sample_count(),
                       .step_samples = batch.step_samples,
                       .step_labels = batch.step_labels,
                       .ends_step = batch.ends_step,
                       .cores = {},
                       .first_core = read.first,
                       .core_count = options.cores};
    for (auto core = std::size_t(read.first); core < std::size_t(read.first + read.count); ++core) {
        Batch part{rows(options.batch_size_per_core, shape.features),
                   rows(options.batch_size_per_core, shape.labels),
                   Array({DType::f32, {options.batch_size_per_core}})};
        for (std::size_t j = 0; j < size; ++j) {
            const std::int64_t sample = batch.samples[j * cores + core];
            if (sample == GlobalBatch::padding) continue;
            samples.read({.sample = sample, .epoch = batch.position.epoch},
                         {row_of(part.features, j, size), row_of(part.labels, j, size)});
            part.weights.as<float>()[j] = 1;
        }
        loaded.cores.push_back(std::move(part));
    }
    if (!mixing.steps.empty()) mix(samples, batch, options, mixing, loaded);
    if (reads_all && own.count > 0) keep_only(own, loaded);
    return loaded;
}

struct Loader::State {
    struct Slot {
        std::optional<LoadedBatch> batch;
        std::exception_ptr error;
        bool done = false;
    };

    // constant after construction
    const Samples& samples;
    const SamplerOptions sampler_options;
    const LoaderOptions options;

    // consumer's thread only
    std::chrono::nanoseconds waited{};
    std::exception_ptr failed;

    std::mutex mutex;
    std::condition_variable room;     // a slot was taken, or the end
    std::condition_variable ready;    // a slot is done, or the end
    // guarded by mutex
    Sampler sampler;
    std::deque<std::shared_ptr<Slot>> slots;    // shared: a worker fills it outside the lock
    bool ended = false;                         // nothing more will be claimed
    bool filling = true;                        // all slots are to be filled

    std::vector<std::jthread> threads;    // last: joined before the rest goes

    State(const Samples& samples_, Sampler sampler_, const LoaderOptions& options_)
        : samples(samples_),
          sampler_options(sampler_.options()),
          options(options_),
          sampler(std::move(sampler_)) {}

    std::size_t bound() const { return std::size_t(std::max(1, options.batches_ahead)); }

    /// One thread fills all slots in one go and then sleeps until half of them are empty: to be
    /// woken for each batch would cost more than to copy it. Several work all the time.
    bool has_room() const {
        const std::size_t refilled_at = options.threads > 1 ? bound() - 1 : bound() / 2;
        return filling ? slots.size() < bound() : slots.size() <= refilled_at;
    }

    /// The next batch to decode and the slot it belongs in, as soon as there is room.
    std::optional<std::pair<GlobalBatch, std::shared_ptr<Slot>>> claim() {
        std::unique_lock lock(mutex);
        room.wait(lock, [&] { return ended || has_room(); });
        if (ended) return std::nullopt;
        std::optional<GlobalBatch> batch = sampler.next();
        if (!batch) {
            end();
            return std::nullopt;
        }
        slots.push_back(std::make_shared<Slot>());
        filling = slots.size() < bound();
        return std::pair(std::move(*batch), slots.back());
    }

    void work(int thread) {
        while (auto claimed = claim()) {
            Slot filled;
            fill(filled, claimed->first, thread);
            filled.done = true;
            const std::lock_guard lock(mutex);
            if (filled.error) end();
            *claimed->second = std::move(filled);
            ready.notify_all();
        }
    }

    /// The next batch, read on the calling thread.
    std::shared_ptr<Slot> read_here() {
        const std::optional<GlobalBatch> wanted = sampler.next();
        if (!wanted) return nullptr;
        auto slot = std::make_shared<Slot>();
        fill(*slot, *wanted, 0);
        return slot;
    }

    void fill(Slot& slot, const GlobalBatch& wanted, int thread) const {
        try {
            const Tick begin = options.clock.tick();
            slot.batch = load_batch(samples, wanted, sampler_options, options.mixing, options.own);
            slot.batch->read_begin = begin;
            slot.batch->read_end = options.clock.tick();
            slot.batch->thread = thread;
        } catch (const std::exception&) {    // the border of a thread: rethrown by next()
            slot.error = std::current_exception();
        }
    }

    /// Call with the mutex held.
    void end() {
        ended = true;
        room.notify_all();
        ready.notify_all();
    }

    std::shared_ptr<Slot> take() {
        std::unique_lock lock(mutex);
        ready.wait(lock, [&] { return slots.empty() ? ended : slots.front()->done; });
        if (slots.empty()) return nullptr;
        std::shared_ptr<Slot> slot = std::move(slots.front());
        slots.pop_front();
        if (has_room()) room.notify_one();
        return slot;
    }
};

Loader::Loader(const Samples& samples, Sampler sampler, const LoaderOptions& options)
    : state_(std::make_unique<State>(samples, std::move(sampler), options)) {
    for (int i = 0; i < options.threads; ++i) {
        state_->threads.emplace_back([state = state_.get(), i] { state->work(i); });
    }
}

Loader::~Loader() {
    const std::lock_guard lock(state_->mutex);
    state_->end();
}

std::optional<LoadedBatch> Loader::next() {
    State& state = *state_;
    if (state.failed) std::rethrow_exception(state.failed);
    const Tick begin = state.options.clock.tick();
    const std::shared_ptr<State::Slot> slot =
        state.threads.empty() ? state.read_here() : state.take();
    state.waited += state.options.clock.tick() - begin;
    if (!slot) return std::nullopt;
    state.failed = slot->error;
    if (state.failed) std::rethrow_exception(state.failed);
    return std::move(slot->batch);
}

double Loader::wait_seconds() const {
    return std::chrono::duration<double>(state_->waited).count();
}

}    // namespace slipway
