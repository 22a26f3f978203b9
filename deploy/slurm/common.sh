# Shared by up and down. Sourced, not run; after ../common.sh.

default_slurm_folder=/var/lib/slipway-slurm

# The daemon of a pid file: prints its process id, or nothing when it does not run. A number that another process
# has by now does not count.
daemon_pid() {
    local folder=$1 name=$2 file pid
    file=$folder/run/$name.pid
    [ -r "$file" ] || return 0
    pid=$(cat "$file")
    if [[ "$pid" =~ ^[0-9]+$ ]] && [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = "${name%%-*}" ] &&
        { tr '\0' '\n' < "/proc/$pid/cmdline"; } 2> /dev/null | grep -qF "$folder/"; then
        echo "$pid"
    fi
}

# Names of the daemons that this folder has had, in the order in which they are started.
daemon_names() {
    local folder=$1 host
    echo munged
    echo slurmctld
    sed -nE 's/^NodeName=([^ ]+) .*/\1/p' "$folder/slurm.conf" 2> /dev/null | while read -r host; do
        echo "slurmd-$host"
    done
}
