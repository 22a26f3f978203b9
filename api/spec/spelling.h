#pragma once

/// The words of the API's enumerations.
#include "api/spec/table/spelling.h"    // IWYU pragma: export
