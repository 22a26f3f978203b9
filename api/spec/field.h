#pragma once

/// What is wrong with one field of a document.
#include "api/spec/table/problem.h"    // IWYU pragma: export
