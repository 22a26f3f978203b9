#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// Where in a job spec a parameter of another service belongs, by what it is usually called: "lr",
/// "optimizer.learning_rate", "batch-size". A name that is such a path already is one. None: nobody
/// can say.
std::optional<std::string> usual_place(std::string_view name);

/// The metric of the validation part that is usually called so: "val/loss", "accuracy_val".
std::optional<std::string> usual_metric(std::string_view name);

}    // namespace slipway
