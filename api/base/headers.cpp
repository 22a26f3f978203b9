/// What the precompiled headers of tests, and those of modules, belong to:
/// CMake makes them with a source.
