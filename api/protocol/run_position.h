#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// Where a run is. The executor keeps it in a file of its run folder that it maps into memory, so
/// that it costs a few stores; whoever outlives a crash reads what it left.
struct RunPosition {
    std::int64_t step = 0;             ///< in work, from 1; 0: before the first
    std::int64_t epoch = 0;            ///< likewise
    std::int64_t batch = 0;            ///< of the epoch, from 0
    std::array<char, 24> phase{};      ///< a word of lower-case letters and underscores, then zeros
    std::array<char, 24> program{};    ///< that runs or ran last, likewise; empty: none yet
    /// What the thread that crashed was computing: written by its signal handler. Empty: nobody
    /// knows. -1: work that is done once for all replicas.
    std::array<char, 120> operation{};
    std::int64_t replica = -1;
};

inline constexpr const char* run_position_file = "position";

/// Sets the phase; a word that is too long is cut.
void set_phase(RunPosition& position, std::string_view phase) noexcept;
std::string phase_of(const RunPosition& position);
void set_program(RunPosition& position, std::string_view program) noexcept;
std::string program_of(const RunPosition& position);
/// For a signal handler too: it takes no memory and no lock.
void set_operation(RunPosition& position, const char* operation, int replica) noexcept;
/// Without control characters.
std::string operation_of(const RunPosition& position);

/// What the bytes of the file say. None when they are no position of this version, or say nothing
/// that one can: an executor can write the file.
std::optional<RunPosition> read_run_position(std::string_view bytes);

/// "in step 118, phase execute, in `matmul` of train_step on replica 3"; "before the first step,
/// phase compile".
std::string describe(const RunPosition& position);

}    // namespace slipway
