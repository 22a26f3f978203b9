#pragma once

/// The two calls of OpenMP (3.2.1, 3.2.3 of its 5.0 specification) that say how many threads the
/// library may use. Declared here because <omp.h> belongs to the compiler, and Debian's oneDNN
/// runs on GCC's library whoever compiled us.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads();
}
