#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// What machine code depends on besides its source: this very build of the program, the compiler
/// that `compiler` names ("LLVM 19.1.7"), and what the CPU and the system let a program use.
/// The same text on each call; another text on another machine, build or compiler.
std::string cache_environment(std::string_view compiler);

/// The linker's mark of this program file; of an unmarked one its size and time of change.
std::string build_mark();

/// The linker's mark of the program or library that holds this address; empty: it has none.
std::string build_mark_around(const void* address);

/// Model and features of the CPU, as its own answers in hexadecimal.
std::string cpu_mark();

}    // namespace slipway
