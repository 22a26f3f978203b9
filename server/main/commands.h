#pragma once

#include "server/main/options.h"

namespace slipway {

/// The commands that do one thing and end. Each returns the exit status; errors are thrown.
int migrate(const Options& options);
int print_login_link(const Options& options);
int print_version();
/// 0: nothing is missing but quotas of the disk, which the service does not set; 1: something is.
int doctor(const Options& options);
/// 0: this machine has what a host needs, or with --launcher slurm each node has; 1: something is
/// missing.
int check_node(const Options& options);
/// 0: every promise of the store is kept; 1: one is broken.
int verify(const Options& options);
/// As verify(), of the database at `url`. True: every promise is kept.
bool verify_database(const std::string& url, const Options& options);
/// 0: the folder that standard output names has a whole backup.
int backup(const Options& options);
/// 0: the home folder has what the backup has; 1: it has, but a promise of the store is broken.
int restore(const Options& options);

}    // namespace slipway
