"""A real Slurm of three nodes on this machine, for the tests: started, broken and stopped here.

Its settings, keys, state and logs lie in one folder; all that listens listens on the loopback
address. Outside of the folder it needs Debian's packages and the file /etc/slurm/slurm.conf,
because the processes that Slurm starts look for their settings there. What a machine does not offer
is left out, and `Cluster.missing` says so.
"""

import errno
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

CONFIG = Path("/etc/slurm/slurm.conf")
PACKAGES = {"munged": "munge", "squeue": "slurm-client", "slurmctld": "slurmctld"} | {
    "slurmd": "slurmd"
}
"""Program -> Debian package that holds it."""

VIEW_PACKAGES = {"bindfs": "bindfs"}
ACCOUNTING_PACKAGES = {"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core"} | {
    "mariadb": "mariadb-client-core"
}

LATE = 5
"""Seconds in which a node may not see what others do in the folder that all share."""

VIEW = (
    *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
    f"bindfs -o nonempty,entry_timeout={LATE},negative_timeout={LATE},attr_timeout={LATE} "
    '"$0" "$0" && exec "$@"',
)
"""Before a folder and a command: the command sees the folder as a file system of its own, which
remembers names, missing ones too, and sizes, as NFS does."""

PREFIX = "ligen-slurm-"
NODES = ("n1", "n2", "n3")
"""Three: one loses its power, one is cut off, and Snakemake gives neither another job."""
MARK = "LIGEN_TEST_CLUSTER"
"""Variable in the environment of every process of the cluster, jobs included: its folder."""

NODE_MARK = "LIGEN_TEST_NODE"
"""Variable in the environment of what runs on a node, but for its jobs."""

PORT = 46810
GPUS = 4
"""Cards of each node. More than there are jobs on it: the card of a job that was given to a node
that was just cut off stays taken for ever, by Slurm 22.05."""

NO_DRIVER = 240
"""Number of a driver for local use, which is none: opening its device fails with ENXIO, and with
EPERM where the kernel forbids it."""

SETTINGS = """\
ClusterName=test
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
{limits}
# Quick answers: a test has no time for the time-outs of a data centre.
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2,bf_interval=2
SlurmdTimeout=10
KillWait=2
MinJobAge=600
{accounting}
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/finished.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
# Each node claims all of this machine, so that one job's cores are not another's on its node.
SlurmdParameters=config_overrides
{nodes}
PartitionName=standard Nodes={names} Default=YES DefaultTime=10 MaxTime=600 State=UP
PartitionName=gpu Nodes={names} DefaultTime=10 MaxTime=600 State=UP
"""

KERNEL_LIMITS = """\
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity"""
"""The kernel holds jobs to their cores, memory and cards, as on most clusters."""

POLLED_LIMITS = """\
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherParams=OverMemoryKill"""
"""Without the kernel's help: cores by affinity, memory by asking every second."""

NO_ACCOUNTING = "AccountingStorageType=accounting_storage/none"

ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={address}
AccountingStoragePort={accounting_port}
# This setting names the socket of munge.
AccountingStoragePass={folder}/munge.socket
AccountingStoreFlags=job_comment"""

ACCOUNTING_SETTINGS = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost={host}
DbdAddr={address}
DbdPort={accounting_port}
CommunicationParameters=NoInAddrAny
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm
"""

DATABASE = """\
CREATE DATABASE slurm;
CREATE USER slurm@localhost;
GRANT ALL ON slurm.* TO slurm@localhost;
"""

CGROUPS = Path("/sys/fs/cgroup")
CONTROLLERS = ("cpuset", "devices", "freezer", "memory")
"""What Slurm needs of cgroups of version 1: folders there."""

CGROUP_SETTINGS = f"""\
CgroupPlugin=cgroup/v1
CgroupMountpoint={CGROUPS}
CgroupAutomount=no
ConstrainCores=yes
ConstrainRAMSpace=yes
ConstrainDevices=yes
"""


class UnavailableError(Exception):
    """This machine cannot run the cluster; the message says why."""


class Cluster:
    """The running cluster; `with Cluster() as cluster` stops all that it started."""

    def __init__(self, shared: Path) -> None:
        """Install what is missing and write the settings; UnavailableError where it cannot be.

        Each node sees the folder `shared` through a file system of its own, where it may.
        """
        if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
            raise UnavailableError("it needs to be root on Debian")
        if CONFIG.is_symlink() and CONFIG.readlink().parent.name.startswith(PREFIX):
            if any(_processes(CONFIG.readlink().parent)):
                raise UnavailableError("another test of the cluster is running")
            _remove_cgroups()
            CONFIG.unlink()
        if CONFIG.exists() or CONFIG.is_symlink():
            raise UnavailableError(f"this machine has a Slurm already: {CONFIG}")
        address = _address()
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.folder.chmod(0o755)
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._guard: subprocess.Popen[bytes] | None = None
        self.missing: list[str] = []
        """What this machine does not offer, and what that means for the tests."""
        self.kernel_limits = _has_cgroups()
        """Does the kernel end a job that takes too much memory? Otherwise Slurm does."""
        if not self.kernel_limits:
            self.missing.append("no writable cgroups of version 1: Slurm asks for jobs' memory")
        try:
            _install(self.folder / "install.log", PACKAGES)
            self._view = self._find_view(shared)
            self.accounting = self._make_database()
            """Does Slurm keep its jobs in a database, where sacct looks?"""
            self.cards = [self.folder / f"card{i}" for i in range(GPUS)]
            self.guards_cards = self._make_cards()
            """Does the kernel keep a job from cards that it was not given?"""
            self._configure(address)
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def _make_cards(self) -> bool:
        try:
            for i, card in enumerate(self.cards):
                os.mknod(card, stat.S_IFCHR | 0o666, os.makedev(NO_DRIVER, i))
            self.cards[0].open("rb").close()
        except OSError as error:
            if error.errno == errno.ENXIO and self.kernel_limits:
                return True
        for card in self.cards:
            card.touch()  # any file can be counted
        self.missing.append("no devices of our own: nothing keeps a job from the card of another")
        return False

    def _find_view(self, shared: Path) -> tuple[str, ...]:
        """Words before the command of a node."""
        view = (*VIEW, str(shared))
        try:
            _install(self.folder / "install.log", VIEW_PACKAGES)
            done = subprocess.run([*view, "umount", str(shared)], capture_output=True, text=True)
            if done.returncode:
                raise UnavailableError(done.stderr.strip())
        except UnavailableError as reason:
            self.missing.append(f"all nodes see one file system: {reason}")
            return ()
        return view

    @property
    def late(self) -> bool:
        """Does a node see late what others do in the shared folder?"""
        return bool(self._view)

    def _make_database(self) -> bool:
        make = ["mariadb-install-db", "--no-defaults", "--user=root", "--skip-name-resolve"]
        make += ["--skip-test-db", f"--datadir={self.folder}/database"]
        try:
            _install(self.folder / "install.log", ACCOUNTING_PACKAGES)
            done = subprocess.run(make, capture_output=True, text=True)
            if done.returncode:
                raise UnavailableError(f"{done.stdout}{done.stderr}".strip()[-200:])
        except UnavailableError as reason:
            self.missing.append(f"no accounting, so squeue is asked, not sacct: {reason}")
            return False
        return True

    def _configure(self, address: str) -> None:
        hardware = _output("slurmd", "-C").split("\n")[0].split(" ", 1)[1]
        # More memory than there is: the test's jobs use little of what the rules ask for.
        hardware = re.sub(r"RealMemory=\d+", "RealMemory=64000", hardware)
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={socket.gethostname().split('.')[0]} "
            f"NodeAddr={address} Port={PORT + 1 + i} {hardware} Gres=gpu:{GPUS}"
            for i, name in enumerate(NODES)
        )
        for name in ("state", *(f"spool.{node}" for node in NODES)):
            (self.folder / name).mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o600)
        given = "".join(f"Name=gpu File={card}\n" for card in self.cards)
        (self.folder / "gres.conf").write_text(f"AutoDetect=off\n{given}")
        if self.kernel_limits:
            (self.folder / "cgroup.conf").write_text(CGROUP_SETTINGS)
        known = {
            "address": address,
            "folder": self.folder,
            "host": socket.gethostname().split(".")[0],
            "accounting_port": PORT + 1 + len(NODES),
        }
        settings = self.folder / "slurmdbd.conf"
        settings.write_text(ACCOUNTING_SETTINGS.format(**known))
        settings.chmod(0o600)
        text = SETTINGS.format(
            **known,
            limits=KERNEL_LIMITS if self.kernel_limits else POLLED_LIMITS,
            accounting=ACCOUNTING.format(**known) if self.accounting else NO_ACCOUNTING,
            port=PORT,
            nodes=nodes,
            names=",".join(NODES),
        )
        (self.folder / "slurm.conf").write_text(text)

    def __enter__(self) -> "Cluster":
        """Start all daemons and wait until every node takes jobs."""
        CONFIG.parent.mkdir(parents=True, exist_ok=True)
        # It clears up when its input ends, also because this process was killed.
        guard = [sys.executable, __file__, str(self.folder)]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True)
        CONFIG.symlink_to(self.folder / "slurm.conf")
        try:
            key, munge = self.folder / "munge.key", self.folder / "munge.socket"
            self._start(
                *("munged", "munged", "--foreground", f"--key-file={key}", f"--socket={munge}"),
                *(f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log"),
                f"--seed-file={self.folder}/munge.seed",
            )
            self._wait("munged", munge.exists)
            if self.accounting:
                self._start_database()
                self.start_accounting()
                _output("sacctmgr", "--immediate", "add", "cluster", "test")
            self.start_controller()
            for node in NODES:
                self.start_node(node)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def environment(self) -> dict[str, str]:
        """What a command needs to talk to this cluster and to be stopped with it."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), MARK: str(self.folder)}

    def _start(self, name: str, *command: str, **variables: str) -> None:
        with (self.folder / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **self.environment(), **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _wait(self, what: str, ready: Callable[[], bool], seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not ready():
            daemon = self._daemons.get(what)
            if time.monotonic() > end or (daemon is not None and daemon.poll() is not None):
                raise UnavailableError(f"{what} did not start: {self._last_words(what)}")
            time.sleep(0.2)

    def _last_words(self, name: str) -> str:
        files = [self.folder / f"{name}.{kind}" for kind in ("out", "log")]
        lines = [line for file in files if file.exists() for line in _lines(file)]
        return " / ".join(lines[-3:]) or "it said nothing"

    def _start_database(self) -> None:
        database = f"--socket={self.folder}/database.socket"
        self._start(
            *("mariadbd", "mariadbd", "--no-defaults", "--user=root", database),
            *(f"--datadir={self.folder}/database", f"--pid-file={self.folder}/mariadbd.pid"),
            *("--skip-networking", "--skip-log-bin", "--innodb-buffer-pool-size=64M"),
            "--innodb-flush-log-at-trx-commit=0",
        )
        prepare = ["mariadb", "--no-defaults", database, "-e", DATABASE]
        self._wait("mariadbd", lambda: not subprocess.run(prepare, capture_output=True).returncode)

    def start_accounting(self) -> None:
        """Start slurmdbd, which sacct asks, where the cluster has it."""
        if self.accounting:
            # slurmdbd has no setting for the socket of its database.
            where = {"MYSQL_UNIX_PORT": f"{self.folder}/database.socket"}
            self._start("slurmdbd", "slurmdbd", "-D", **where)
            self._wait("slurmdbd", lambda: "Cluster" in _output("sacctmgr", "list", "cluster"))

    def kill_accounting(self) -> None:
        """End slurmdbd with SIGKILL: sacct has no answer."""
        if self.accounting:
            self._kill("slurmdbd")

    def accounted(self) -> dict[str, str]:
        """State of every job and step in the database, by its number."""
        rows = _output("sacct", "--noheader", "--parsable2", "--format=JobID,State").splitlines()
        return dict(row.split("|") for row in rows)

    def start_controller(self) -> None:
        """Start slurmctld, the daemon that keeps the queue."""
        self._start("slurmctld", "slurmctld", "-D")
        self._wait("slurmctld", lambda: "is UP" in _output("scontrol", "ping"))

    def kill_controller(self) -> None:
        """End slurmctld with SIGKILL: nobody answers; jobs go on."""
        self._kill("slurmctld")

    def start_node(self, node: str) -> None:
        """Start a node's slurmd and wait until it takes jobs."""
        # Jobs of a node that was cut off keep its old view.
        self._start(node, *self._view, "slurmd", "-D", "-N", node, **{NODE_MARK: node})
        self._wait(node, lambda: self.state(node) in ("idle", "mixed", "allocated"))

    def cut_node(self, node: str) -> None:
        """End a node's slurmd only: Slurm loses sight of the node, whose jobs go on."""
        self._kill(node)

    def kill_node(self, node: str) -> None:
        """End a node as a power cut does: its slurmd and all that its jobs run."""
        self._kill(node)
        log, others = self.folder / f"{node}.log", []
        for pid in list(_processes(self.folder)):
            environment = _environment(pid)
            # Step daemons first: they would tell the controller how their jobs ended.
            if log in _logs(pid):
                _kill(pid)
            elif node in (environment.get(NODE_MARK), environment.get("SLURMD_NODENAME")):
                others.append(pid)
        for pid in others:
            _kill(pid)

    def _kill(self, name: str) -> None:
        daemon = self._daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def state(self, node: str) -> str:
        """A node's state in Slurm's words, without the marks behind it."""
        return _output("sinfo", "-h", "-n", node, "-o", "%T").split("\n")[0].strip("*~#!%$@^-+ ")

    def finished(self) -> list[dict[str, str]]:
        """Slurm's own record of every job that ended, oldest first."""
        lines = _lines(self.folder / "finished.txt")
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]

    def jobs(self) -> list[str]:
        """Jobs in the queue that have not ended."""
        return _output("squeue", "-h", "-o", "%A").split()

    def node_of(self, stage: str, part: str) -> str:
        """The node on which a stage of a part runs."""
        return _environment(self._stage(stage, part))["SLURMD_NODENAME"]

    def job_of(self, stage: str, part: str) -> str:
        """The number of the job in which a stage of a part runs."""
        return _environment(self._stage(stage, part))["SLURM_JOB_ID"]

    def _stage(self, stage: str, part: str) -> int:
        return self.stages(stage, part)[0]

    def stages(self, stage: str, part: str) -> list[int]:
        """Process numbers of a stage of a part, oldest first."""
        found = []
        for pid in _processes(self.folder):
            with suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                if f"ligen_py.{stage}" in words and f"/{part}.h5\0" in "\0".join([*words, ""]):
                    found.append(pid)
        return sorted(found)

    def with_card(self) -> list[str]:
        """Jobs that held a card, of those that Slurm still remembers."""
        rows = _output("squeue", "-h", "--states=all", "-O", "JobID,tres-per-job").splitlines()
        return [row.split()[0] for row in rows if "gres:gpu:1" in row]

    def stop(self) -> None:
        """End all jobs and daemons and remove the folder."""
        if "slurmctld" in self._daemons:
            subprocess.run(["scancel", "--user=root"], timeout=30, capture_output=True)
            with suppress(UnavailableError):
                self._wait("jobs", lambda: not _output("squeue", "-h").strip(), 15)
        for daemon in self._daemons.values():
            daemon.terminate()
        for daemon in self._daemons.values():
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
        clear(self.folder)
        for daemon in self._daemons.values():
            daemon.wait()
        if self._guard is not None:
            self._guard.communicate()


def clear(folder: Path) -> None:
    """End what still runs of the cluster in a folder, and remove all that it left."""
    for _ in range(50):
        left = list(_processes(folder))
        if not left and _remove_cgroups():
            break
        for pid in left:
            _kill(pid)
        time.sleep(0.1)
    if CONFIG.is_symlink() and CONFIG.readlink().parent == folder:
        CONFIG.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _has_cgroups() -> bool:
    """May folders be made for jobs where the kernel has version 1 of cgroups?"""
    for controller in CONTROLLERS:
        probe = CGROUPS / controller / f"{PREFIX}{os.getpid()}"
        try:
            probe.mkdir()
            probe.rmdir()
        except OSError:
            return False
    return True


def _remove_cgroups() -> bool:
    """Remove the folders of nodes that are gone, which Slurm leaves; is none left?"""
    tops = [top for node in NODES for top in CGROUPS.glob(f"*/slurm_{node}")]
    for top in tops:
        for folder, _, _ in os.walk(top, topdown=False):
            with suppress(OSError):  # a process in it is ending
                Path(folder).rmdir()
    return not any(top.exists() for top in tops)


def _address() -> str:
    name = socket.gethostname().split(".")[0]
    try:
        address = socket.gethostbyname(name)
    except OSError:
        raise UnavailableError(f"the name of this machine, {name}, has no address") from None
    if not address.startswith("127."):
        raise UnavailableError(
            f"the name of this machine, {name}, stands for {address}, not for itself"
        )
    return address


def _install(log: Path, packages: dict[str, str]) -> None:
    missing = [package for program, package in packages.items() if not shutil.which(program)]
    if not missing:
        return
    # Packages start their daemons at once, unless this file forbids it.
    guard = Path("/usr/sbin/policy-rc.d")
    forbid = not guard.exists()
    if forbid:
        guard.write_text("#!/bin/sh\nexit 101\n")
        guard.chmod(0o755)
    get = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=60"]
    try:
        with log.open("wb") as output:
            for command in ("update", "install"):
                words = ["--no-install-recommends", *missing] if command == "install" else []
                done = subprocess.run(
                    [*get, command, *words],
                    env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=300,
                )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"its packages cannot be installed: {error}") from None
    finally:
        if forbid:
            guard.unlink()
    if done.returncode:
        raise UnavailableError(f"its packages cannot be installed: {' / '.join(_lines(log)[-3:])}")


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except subprocess.TimeoutExpired:
        return ""


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.exists() else []


def _processes(folder: Path) -> Iterator[int]:
    """Processes of the cluster in a folder that still run."""
    for entry in Path("/proc").iterdir():
        pid = int(entry.name) if entry.name.isdecimal() else 0
        if pid and (
            _environment(pid).get(MARK) == str(folder)
            or any(log.parent == folder for log in _logs(pid))
        ):
            yield pid


def _logs(pid: int) -> set[Path]:
    """Logs that a process holds open; step daemons overwrite their environment with a title."""
    found = set()
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(link.readlink())
    return {path for path in found if path.suffix == ".log"}


def _environment(pid: int) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(item.split("=", 1) for item in text.split("\0") if "=" in item)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.stdin.read()
    clear(Path(sys.argv[1]))
