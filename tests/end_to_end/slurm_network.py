"""A Slurm cluster whose nodes are as far from slipwayd as other machines: each slurmd has a network, processes and a host name of its own.
What they share is the file system. slipwayd and slurmctld are on the first host of the network, as is the test itself."""
import contextlib
import os
import pathlib
import signal
import subprocess

from network import Network, entered, skip_unless_permitted
from service import Service, wait_for
from slurm_cluster import Cluster

CONFIGURATION = """\
ClusterName=slipway
SlurmctldHost=localhost({controller})
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=300
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
DefMemPerCPU=500
SchedulerParameters=batch_sched_delay=0
JobRequeue=0
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=120
KillWait=5
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={name} NodeAddr={address} Port={port} CPUs=8 RealMemory={memory_mib} State=UNKNOWN\n"
# The first process of a node: what loses its parent becomes its child. The node ends with it.
INIT = 'hostname "$1"; shift; "$@" & while :; do wait; sleep 0.2; done'
STARTED_ALONE = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}


class NetworkCluster(Cluster):
    def __init__(self, hosts=2):
        super().__init__(hosts=hosts)
        skip_unless_permitted()
        self.network = Network(hosts + 1)
        self.processes = {}

    def address(self, node):
        """Of node 1, 2, …; 0 is that of slipwayd."""
        return self.network.addresses[node]

    def up(self):
        for name in ("run", "state", "log", "spool"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        memory_mib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20 // self.hosts
        nodes = "".join(NODE.format(name=f"node{node}", address=self.address(node), port=self.port + node, memory_mib=memory_mib)
                        for node in range(1, self.hosts + 1))
        self.file = self.folder / "slurm.conf"
        self.file.write_text(CONFIGURATION.format(controller=self.address(0), port=self.port, folder=self.folder) + nodes)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self.start("munged", "munged", "--foreground", "--force", f"--socket={self.folder}/run/munge.socket", f"--key-file={key}",
                   f"--pid-file={self.folder}/run/munged.pid", f"--log-file={self.folder}/log/munged.log",
                   f"--seed-file={self.folder}/state/munge.seed")
        wait_for((self.folder / "run" / "munge.socket").exists, "munged", 20)
        self.start_controller()
        for node in range(1, self.hosts + 1):
            self.start_node(node)
        wait_for(lambda: self.states().count("idle") == self.hosts, "idle nodes", 60, 0.2)

    def start(self, name, *words):
        self.processes[name] = subprocess.Popen(list(map(str, words)), env=self.environment, cwd="/", **STARTED_ALONE)

    def on(self, host):
        """What stands before the words of a command that is to have the network of this host, and all else of this machine: slurmd
        needs the cgroups of /sys, which `ip netns exec` hides."""
        return ["nsenter", f"--net=/run/netns/{self.network.namespaces[host]}"]

    def start_controller(self):
        self.start("slurmctld", *self.on(0), "slurmctld", "-D", "-f", self.file)

    def start_node(self, node):
        name = f"node{node}"
        self.start(name, *self.on(node), "unshare", "--pid", "--fork", "--mount-proc", "--uts", "--ipc", "--kill-child",
                   "sh", "-c", INIT, "init", name, "slurmd", "-D", "-N", name, "-f", self.file)

    def first_process(self, node):
        """Its id on this machine."""
        unshare = self.processes[f"node{node}"].pid
        return int(pathlib.Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()[0])

    def states(self):
        done = subprocess.run(["sinfo", "--noheader", "--Node", "--format=%T"], capture_output=True, text=True, env=self.environment, cwd="/")
        return done.stdout.split()

    def end(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait()

    def close(self):
        try:
            for name in reversed(list(self.processes)):
                self.end(name)
        finally:
            self.network.close()
            super().close()


def start(case, settings=()):
    """`case.cluster` and `case.service` as slurm_service.start makes them; the test's thread is on the network of the service."""
    stack = contextlib.ExitStack()
    case.addClassCleanup(stack.close)
    case.cluster = NetworkCluster()
    stack.callback(case.cluster.close)
    stack.enter_context(entered(case.cluster.network.namespaces[0]))
    case.cluster.up()
    os.environ["SLURM_CONF"] = case.cluster.environment["SLURM_CONF"]
    stack.callback(os.environ.pop, "SLURM_CONF")
    case.service = Service("--launcher", "slurm", "--slurm-address", case.cluster.address(0), *settings)
    stack.callback(case.service.close)
    return stack
