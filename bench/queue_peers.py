#!/usr/bin/env python3
"""How many jobs that do nothing Slipway's store and planner move a second, beside graphile-worker and pg-boss, on one PostgreSQL with
fsync: the same server, the same settings, a database for each, one after the other, as often as asked. What they keep differs: Slipway
an event for each of four moves, a fenced attempt, leases and a decision; pg-boss the finished row; graphile-worker nothing.

Needs Node 20, npm and the network (the packages go into a temporary folder), and PostgreSQL's programs.
  usage: bench/queue_peers.py [--build build/release] [--jobs 20000] [--rounds 3]
"""
import argparse
import glob
import os
import pwd
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"graphile-worker": "0.16.6", "pg-boss": "10.3.3"}


class Server:
    """A PostgreSQL of its own, durable, on a socket in its folder. As root it runs as the user postgres."""

    def __init__(self, folder):
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.tools = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.account = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.account:
            os.chown(folder, self.account.pw_uid, self.account.pw_gid)
        self.run("initdb", "-D", self.data, "-U", "bench", "-A", "trust", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(folder, "log"), "-o", options, "start")

    def run(self, program, *arguments):
        user = {"user": self.account.pw_uid, "group": self.account.pw_gid} if self.account else {}
        subprocess.run([os.path.join(self.tools, program), *arguments], check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **user)

    def new_database(self, name):
        self.run("createdb", "-h", self.folder, "-U", "bench", name)
        return f"postgresql:///{name}?host={self.folder}&user=bench"

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop")


def install(folder):
    packages = [f"{name}@{version}" for name, version in PEERS.items()]
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *packages], check=True, cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--jobs", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    store_moves = os.path.abspath(os.path.join(options.build, "bin", "bench_store_moves"))
    folder = tempfile.mkdtemp(prefix="slipway-peers-")
    os.chmod(folder, 0o755)
    server = None
    try:
        packages = os.path.join(folder, "packages")
        os.mkdir(packages)
        install(packages)
        database_folder = os.path.join(folder, "postgres")
        os.mkdir(database_folder)
        server = Server(database_folder)
        for turn in range(options.rounds):
            print(f"round {turn + 1}:", flush=True)
            for name in PEERS:
                url = server.new_database(f"{name.replace('-', '_')}_{turn}")
                subprocess.run(["node", os.path.join(HERE, "queue_peers", "peers.mjs"), name, url, str(options.jobs)], check=True,
                               cwd=packages)
            subprocess.run([store_moves, server.new_database(f"slipway_{turn}"), str(options.jobs)], check=True)
    finally:
        if server:
            server.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
