#include "api/protocol/run_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api/base/printable.h"

namespace slipway {

static_assert(std::is_trivially_copyable_v<RunPosition> && sizeof(RunPosition) == 200);

namespace {

template <std::size_t size>
void set_text(std::array<char, size>& text, std::string_view value) noexcept {
    const std::size_t length = std::min(value.size(), size - 1);
    std::memcpy(text.data(), value.data(), length);
    text[length] = '\0';
}

template <std::size_t size>
std::string text_of(const std::array<char, size>& text) {
    return {text.data(), strnlen(text.data(), size)};
}

bool is_word(const std::string& text) {
    return std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}    // namespace

void set_phase(RunPosition& position, std::string_view phase) noexcept {
    set_text(position.phase, phase);
}

std::string phase_of(const RunPosition& position) {
    return text_of(position.phase);
}

void set_program(RunPosition& position, std::string_view program) noexcept {
    set_text(position.program, program);
}

std::string program_of(const RunPosition& position) {
    return text_of(position.program);
}

void set_operation(RunPosition& position, const char* operation, int replica) noexcept {
    set_text(position.operation, {operation, strnlen(operation, position.operation.size())});
    position.replica = replica;
}

std::string operation_of(const RunPosition& position) {
    return printable_line(text_of(position.operation));
}

std::optional<RunPosition> read_run_position(std::string_view bytes) {
    if (bytes.size() != sizeof(RunPosition)) return std::nullopt;
    RunPosition position;
    std::memcpy(&position, bytes.data(), sizeof(position));
    const bool words =
        !phase_of(position).empty() && is_word(phase_of(position)) && is_word(program_of(position));
    const bool ended = position.phase.back() == '\0' && position.program.back() == '\0' &&
                       position.operation.back() == '\0';
    if (!words || !ended || position.step < 0 || position.epoch < 0 || position.batch < 0 ||
        position.replica < -1)
        return std::nullopt;
    return position;
}

std::string describe(const RunPosition& position) {
    std::string text =
        position.step == 0 ? "before the first step" : fmt::format("in step {}", position.step);
    text += ", phase " + phase_of(position);
    const std::string operation = operation_of(position);
    if (operation.empty()) return text;
    text += fmt::format(", in `{}`", operation);
    if (const std::string program = program_of(position); !program.empty())
        text += " of " + program;
    if (position.replica >= 0) text += fmt::format(" on replica {}", position.replica);
    return text;
}

}    // namespace slipway
