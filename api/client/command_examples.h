#pragma once

namespace CLI {
class App;
}

namespace slipway::client {

/// Adds its examples to the help of every command of `app`.
void add_examples(CLI::App& app);

}    // namespace slipway::client
