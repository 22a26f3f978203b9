/// What the tests' precompiled headers belong to: CMake makes them with a source.
