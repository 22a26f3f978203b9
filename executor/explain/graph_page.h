#pragma once

#include <string>

#include "api/base/json.h"
#include "executor/engine/engine.h"
#include "executor/explain/kernels.h"

namespace slipway {

/// "0123…": 32 hexadecimal digits, how a program is called in the API.
std::string to_hex(const Hash128& hash);

/// The memory plan of a program: inputs, outputs, aliased, temporaries, constants, code, peak.
Json memory_json(const MemoryReport& memory);

/// Kernels with their times, slowest first; at most `count_max`.
Json kernels_json(const std::vector<KernelTime>& kernels, std::size_t count_max);

/// One line of GET /graphs: hash, program, sizes, compile time, memory plan.
Json graph_summary(const std::string& program, const CompileRecord& compiled, const Graph& graph,
                   const Program& lowered, const MemoryReport& memory);

/// What GET /graphs/{hash} shows besides the summary: the graph and the program as text, inputs,
/// outputs, kernels.
Json graph_page(Json summary, const Graph& graph, const Program& lowered);

}    // namespace slipway
