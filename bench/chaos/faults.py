"""The faults: what is done to a ChaosService, and how it is put right. One row each; one of a kind is on at a time. A fault
that found nothing to do it to returns False."""
import contextlib
import os
import signal


def send(pids, which):
    """True when there was somebody."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)
    return bool(pids)


def one_of(generator, pids):
    return [generator.choice(pids)] if pids else []


def kill_server(service, _):
    service.kill()


def freeze_server(service, _):
    service.process.send_signal(signal.SIGSTOP)


def thaw_server(service):
    with contextlib.suppress(ProcessLookupError):
        service.process.send_signal(signal.SIGCONT)


def start_server(service):
    if service.process.poll() is not None:
        service.launch()


def kill_other_machine(service, generator):
    """All of it, or the agent alone."""
    service.other_process.kill()
    service.other_process.wait()
    if generator.random() < 0.5:
        send([pid for pid in service.executors() if f"{service.other_home}/" in open(f"/proc/{pid}/cmdline").read()], signal.SIGKILL)


def freeze_other_agent(service, _):
    service.other_process.send_signal(signal.SIGSTOP)


def thaw_other_agent(service):
    with contextlib.suppress(ProcessLookupError):
        service.other_process.send_signal(signal.SIGCONT)


def start_other_agent(service):
    if service.other_process.poll() is not None:
        service.launch_other()


def kill_executor(service, generator):
    return send(one_of(generator, service.executors()), signal.SIGKILL)


def freeze_executor(service, generator):
    service.frozen = one_of(generator, service.executors())
    return send(service.frozen, signal.SIGSTOP)


def thaw_executor(service):
    send(service.frozen, signal.SIGCONT)


def kill_database(service, _):
    service.database.kill()


def start_database(service):
    service.database.start()


def freeze_database(service, _):
    service.stopped = service.database.processes()
    send(service.stopped, signal.SIGSTOP)


def thaw_database(service):
    send(service.stopped, signal.SIGCONT)


def restart_database(service, _):
    service.database.stop()
    service.database.start()


def kill_backend(service, generator):
    return send(one_of(generator, service.database.backends()), signal.SIGKILL)


def end_backend(service, generator):
    return send(one_of(generator, service.database.backends()), signal.SIGTERM)


def fill_home(service, _):
    if not service.disk.can_be_full:
        return False
    service.disk.fill()


def empty_home(service):
    service.disk.empty()


def fill_database(service, _):
    if not service.database.disk.can_be_full:
        return False
    service.database.disk.fill()


def empty_database(service):
    service.database.disk.empty()
    service.database.start()


def database_fsync(service, _):
    service.database.preloaded.fail("fsync")


def database_fsync_works(service):
    service.database.preloaded.work()
    service.database.start()


def service_fsync(service, _):
    service.preloaded.fail("fsync")


def service_write(service, _):
    service.preloaded.fail("write")


def service_disk_works(service):
    service.preloaded.work()


def executor_fsync(service, _):
    service.executor_disk.fail("fsync")


def executor_write(service, _):
    service.executor_disk.fail("write")


def executor_disk_works(service):
    service.executor_disk.work()


def cut_connections(service, _):
    service.database.proxy.cut()


def hold_connections(service, _):
    service.database.proxy.is_holding.set()


def let_connections(service):
    service.database.proxy.is_holding.clear()


def nothing(_):
    pass


# name: (begin, end, how long in seconds at least and at most, how often, names that must not be on with it)
FAULTS = {
    "server_killed": (kill_server, start_server, 0.1, 4, 4, {"server_frozen"}),
    "server_frozen": (freeze_server, thaw_server, 0.5, 14, 3, {"server_killed"}),
    "machine_killed": (kill_other_machine, start_other_agent, 0.1, 16, 3, {"agent_frozen"}),
    "agent_frozen": (freeze_other_agent, thaw_other_agent, 0.5, 25, 4, {"machine_killed"}),
    "executor_killed": (kill_executor, nothing, 0, 0, 8, set()),
    "executor_frozen": (freeze_executor, thaw_executor, 0.5, 13, 3, set()),
    "database_killed": (kill_database, start_database, 0.1, 3, 3, {"database_frozen", "database_restarted"}),
    "database_frozen": (freeze_database, thaw_database, 0.5, 8, 3, {"database_killed", "database_restarted", "database_full", "database_fsync_error"}),
    "database_restarted": (restart_database, nothing, 0, 0, 2, {"database_killed", "database_frozen", "database_full", "database_fsync_error"}),
    "backend_killed": (kill_backend, nothing, 0, 0, 4, set()),
    "backend_ended": (end_backend, nothing, 0, 0, 8, set()),
    "home_full": (fill_home, empty_home, 0.5, 6, 3, set()),
    "database_full": (fill_database, empty_database, 0.5, 4, 3, {"database_frozen", "database_restarted", "database_killed", "database_fsync_error"}),
    "database_fsync_error": (database_fsync, database_fsync_works, 0.2, 3, 3, {"database_frozen", "database_restarted", "database_killed", "database_full"}),
    "service_fsync_error": (service_fsync, service_disk_works, 0.2, 3, 3, {"service_write_error"}),
    "service_write_error": (service_write, service_disk_works, 0.2, 3, 3, {"service_fsync_error"}),
    "executor_fsync_error": (executor_fsync, executor_disk_works, 0.2, 3, 3, {"executor_write_error"}),
    "executor_write_error": (executor_write, executor_disk_works, 0.2, 3, 3, {"executor_fsync_error"}),
    "connections_cut": (cut_connections, nothing, 0, 0, 6, set()),
    "connections_held": (hold_connections, let_connections, 0.5, 8, 3, set()),
}

# Only of executors that are not confined.
OF_EXECUTOR_DISKS = {"executor_fsync_error", "executor_write_error"}
