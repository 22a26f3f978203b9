# Shared by up, down and test. Sourced, not run.

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*"; }
fail() {
    printf 'slipway: %s\n' "$*" >&2
    exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo > /dev/null; then
        sudo "$@"
    else
        fail "installing packages needs root: run as root, or install sudo"
    fi
}

# The packages named in the given lists, without comments.
packages_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

# A line "PACKAGE or COMMAND" is content with the command from elsewhere: a Node.js that is not Debian's
# brings npm along and conflicts with Debian's package of that name.
is_installed() {
    local package=$1 command=$2
    dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q 'install ok installed' ||
        { [ -n "$command" ] && command -v "$command" > /dev/null; }
}

# Installs what is missing of the packages in the given lists; asks the network only when something is.
install_packages() {
    local missing=() package command
    while read -r package _ command; do
        is_installed "$package" "$command" || missing+=("$package")
    done < <(packages_in "$@")
    [ ${#missing[@]} = 0 ] && return
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    if [[ " ${missing[*]} " == *" postgresql-15 "* ]]; then
        # Slipway runs its own private cluster: Debian's default one would only use memory and port 5432.
        as_root mkdir -p /etc/postgresql-common/createcluster.d
        echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.d/slipway.conf > /dev/null
    fi
    local log
    log=$(mktemp)
    if ! { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
        tail -n 20 "$log" >&2
        fail "apt-get could not install the packages above (full log: $log)"
    fi
    rm -f "$log"
}

# Compilers at once: one per CPU, and no more than 1.5 GiB of memory each allows.
build_jobs() {
    local memory_jobs
    memory_jobs=$(awk '/MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
    local jobs
    jobs=$(nproc)
    [ "$memory_jobs" -lt "$jobs" ] && jobs=$memory_jobs
    [ "$jobs" -lt 1 ] && jobs=1
    echo "$jobs"
}

# Says that much is built again, and why when that can be told; a few files are not worth a line.
say_rebuild() {
    local folder=$source_folder/build/$1 steps
    [ -e "$folder/.ninja_log" ] || return 0
    steps=$(ninja -C "$folder" -n 2> /dev/null | sed -nE 's|^\[1/([0-9]+)\].*|\1|p')
    [ "${steps:-0}" -lt 50 ] ||
        say "Building $steps steps of $1 again: sources, options or a compiler have changed since the last build; this takes minutes"
}

# Configures and builds one preset; shows the compiler's words only when it fails.
build_preset() {
    local preset=$1
    shift
    local log=$source_folder/build/$preset.log
    mkdir -p "$source_folder/build"
    [ -e "$source_folder/build/$preset/.ninja_log" ] || say "Building $preset for the first time; this takes minutes (log: $log)"
    # CMake keeps no setting of a build folder whose compiler changes: such a folder is configured from nothing.
    local fresh=
    [ "$(grep -cE '^CMAKE_CX*_COMPILER:.*clang(\+\+)?-19$' "$source_folder/build/$preset/CMakeCache.txt" 2> /dev/null)" = 2 ] || fresh=--fresh
    if ! (cd "$source_folder" && cmake $fresh --preset "$preset" "$@") > "$log" 2>&1; then
        tail -n 30 "$log" >&2
        fail "cmake could not configure $preset (log: $log)"
    fi
    say_rebuild "$preset"
    if [ -t 1 ]; then
        (cd "$source_folder" && NINJA_STATUS="Building $preset %f/%t " cmake --build "build/$preset" -j "$(build_jobs)") 2>&1 |
            tee -a "$log" | grep --line-buffered -E '^Building|error|FAILED' | while IFS= read -r line; do printf '\r\033[K%.100s' "$line"; done
        local status=${PIPESTATUS[0]}
        printf '\r\033[K'
        [ "$status" = 0 ] || { grep -A5 -E 'error|FAILED' "$log" | tail -n 40 >&2; fail "the build of $preset failed (log: $log)"; }
    elif ! (cd "$source_folder" && cmake --build "build/$preset" -j "$(build_jobs)") >> "$log" 2>&1; then
        grep -A5 -E 'error|FAILED' "$log" | tail -n 40 >&2
        fail "the build of $preset failed (log: $log)"
    fi
}

default_home() {
    if [ -n "${SLIPWAY_HOME:-}" ]; then
        echo "$SLIPWAY_HOME"
    elif [ "$(id -u)" = 0 ]; then
        echo /var/lib/slipway
    else
        echo "$HOME/.local/share/slipway"
    fi
}

# The running slipwayd of a home folder: prints its process id, or nothing.
slipwayd_pid() {
    local pid_file=$1/slipwayd.pid pid
    [ -r "$pid_file" ] || return 0
    pid=$(cat "$pid_file")
    if [[ "$pid" =~ ^[0-9]+$ ]] && [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = slipwayd ]; then
        echo "$pid"
    fi
}
