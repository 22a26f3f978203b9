#include <fmt/core.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/protocol/slice_memory.h"
#include "executor/collectives/gloo/gloo_member.h"

/// What an all_reduce of so many megabytes of f32 takes between processes of this machine: ours,
/// which adds in the order of the fixed tree, in shared memory and over loopback, beside Gloo's own
/// ring over loopback, in turns in the same run. Medians of the slowest process' times. A line:
///   2 processes, 84 MB: in shared memory 20.1 ms, over sockets 43.3 ms, ring of Gloo 54.6 ms: 0.37
///   and 0.79 of it
/// usage: bench_all_reduce [PROCESSES [MEGABYTES [ROUNDS]]]
namespace slipway {
namespace {

struct Measurement {
    int processes = 2;
    std::size_t megabytes = 84;
    int rounds = 15;
};

float milliseconds_of(const std::function<void()>& work) {
    const Tick begin = system_clock().tick();
    work();
    return std::chrono::duration<float, std::milli>(system_clock().tick() - begin).count();
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::shared_ptr<gloo::Context> gloo_context(const Measurement& measurement, int rank,
                                            const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    gloo::rendezvous::FileStore store(folder);
    auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, measurement.processes);
    context->connectFullMesh(store, device);
    return context;
}

/// The slowest process' time.
double milliseconds_of_all(Member& member, const std::function<void()>& work) {
    member.barrier("a round");
    float slowest = milliseconds_of(work);
    member.all_reduce(Combine::maximum, DType::f32, std::as_writable_bytes(std::span(&slowest, 1)));
    return double(slowest);
}

void measure(const Measurement& measurement, int rank, int memory,
             const std::filesystem::path& folder) {
    MemberOrder order{.rank = rank,
                      .hosts = {},
                      .rendezvous_folder = folder / "in_memory",
                      .secret = "bench",
                      .bind_address = "127.0.0.1",
                      .timeout_s = 120,
                      .shared_memory = memory};
    order.hosts.resize(std::size_t(measurement.processes), "here");
    GlooMember in_memory(order);
    order.rendezvous_folder = folder / "over_sockets";
    order.shared_memory = -1;
    GlooMember over_sockets(order);
    const auto context = gloo_context(measurement, rank, folder / "theirs");
    std::vector<float> values(measurement.megabytes * 1'000'000 / sizeof(float), 1);
    const auto bytes = std::as_writable_bytes(std::span(values));
    const auto ring = [&] {
        gloo::AllreduceOptions options(context);
        options.setOutput(values.data(), values.size());
        options.setReduceFunction([](void* into, const void* a, const void* b, std::size_t n) {
            gloo::max<float>(into, a, b, n);
        });
        gloo::allreduce(options);
    };
    const auto tree = [&](Member& member) {
        return [&] { member.all_reduce(Combine::maximum, DType::f32, bytes); };
    };
    std::vector<double> memory_ms, sockets_ms, ring_ms;
    for (int round = 0; round <= measurement.rounds; ++round) {
        const double in_memory_now = milliseconds_of_all(over_sockets, tree(in_memory));
        const double over_sockets_now = milliseconds_of_all(over_sockets, tree(over_sockets));
        const double ring_now = milliseconds_of_all(over_sockets, ring);
        if (round == 0) continue;    // memory that is new
        memory_ms.push_back(in_memory_now);
        sockets_ms.push_back(over_sockets_now);
        ring_ms.push_back(ring_now);
    }
    if (rank != 0) return;
    fmt::print(
        "{} processes, {} MB: in shared memory {:.1f} ms, over sockets {:.1f} ms, ring of Gloo "
        "{:.1f} ms: {:.2f} and {:.2f} of it\n",
        measurement.processes, measurement.megabytes, median(memory_ms), median(sockets_ms),
        median(ring_ms), median(memory_ms) / median(ring_ms), median(sockets_ms) / median(ring_ms));
}

}    // namespace
}    // namespace slipway

int main(int argc, char** argv) {
    slipway::Measurement measurement;
    if (argc > 1) measurement.processes = std::stoi(argv[1]);
    if (argc > 2) measurement.megabytes = std::stoul(argv[2]);
    if (argc > 3) measurement.rounds = std::stoi(argv[3]);
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("all_reduce_{}", getpid());
    const slipway::UniqueFd memory = slipway::make_slice_memory(measurement.processes);
    for (int rank = 1; rank < measurement.processes; ++rank) {
        if (fork() != 0) continue;
        slipway::measure(measurement, rank, memory.get(), folder);
        return 0;
    }
    slipway::measure(measurement, 0, memory.get(), folder);
    int failed = 0;
    for (int status = 0; wait(&status) > 0;)
        failed += status != 0 ? 1 : 0;
    std::filesystem::remove_all(folder);
    return failed;
}
