#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executor/graph/tensor.h"
#include "executor/tensor/array.h"

/// Cases of operations as data, for whoever evaluates graphs: the naive evaluator, the engine.
///
///   # one block per case; one about a constraint of docs/contributing/ops.md names it
///   case  swaps_two_dimensions
///   x     f32[2,3]  1 2 3  4 5 6
///   call  transpose x permutation=1,0
///   y     f32[3,2]  1 4  2 5  3 6
///   case  names_a_dimension_twice  transpose_c1
///   x     f32[2,3]  0 0 0  0 0 0
///   call  transpose x permutation=0,0
///   error invalid_argument
///
/// An operand `per_core` has one group of values per core, parted by |. `repeat 0.5` fills an
/// array. A line that begins with a blank goes on with the one before. The attribute result=1 takes
/// the second result of an op with several.
namespace slipway {

/// An operand or the expected result: one array, or one per core.
struct CaseValue {
    std::string name;
    Placement placement = Placement::replicated;
    std::vector<Array> arrays;
};

struct OpCase {
    std::string file;
    int line = 0;
    std::string name;
    std::string constraint;    ///< empty when the case is about none
    std::vector<CaseValue> inputs;
    std::vector<std::string> call;    ///< function of ops.h, operands' names, attributes
    std::optional<CaseValue> expected;
    std::string error;    ///< expected ErrorCode as on the wire; empty when there is a result
};

/// Where the .case files are.
std::filesystem::path op_case_folder();
/// All *.case files there, sorted.
std::vector<std::filesystem::path> op_case_files();
/// The cases of one file. A malformed file is an Error invalid_argument naming file and line.
std::vector<OpCase> read_op_cases(const std::filesystem::path& file);

/// The graph of a case: its inputs as inputs, the call's result as the one output. Throws what the
/// function of ops.h throws.
Graph build(const OpCase& op_case);

/// Where `actual` differs from `expected` by more than `tolerance` (relative, absolute below 1);
/// empty when it does not. Integers and pred must be equal, NaN equals NaN.
std::string difference(const Array& actual, const Array& expected, double tolerance);

}    // namespace slipway
