"""Uses a daemon in every way at once, for some minutes, while it is killed again and again.

usage: soak.py [--minutes N] [--seed N]

Sessions of every shell come and go; commands whose results are known run, are cancelled, go on
in the background; views and the page's sockets open and break off. At the end everything is let
go of, and nothing may be left: no process, no descriptor, no file, no open row; memory must be
flat, and every result must have been right.
"""

import argparse
import base64
import os
import random
import socket
import sqlite3
import sys
import threading
import time
import traceback
from pathlib import Path

import grpc

from daemon import DEADLINE, TcpDaemon, agent, until, wire

# Who works at once, and how many sessions each may have.
WORKERS = 4
SESSIONS_MAX = 6

# How long a daemon lives before it is killed, in seconds: from, to.
LIFE_SECONDS = (4, 12)

# How long a call is repeated while no daemon answers, in seconds.
PATIENCE = 60

# How much the keeper's memory may grow between the first third and the end, and how much a daemon
# that serves nobody may have, in KiB.
GROWTH_KIB_MAX = 1024

# How long a view reads nothing while its terminal is written to, in seconds, and by how much the
# daemon may grow meanwhile, in KiB.
STALL_SECONDS = 65
STALL_KIB_MAX = 64 * 1024
IDLE_KIB_MAX = 192 * 1024

SHELLS = ["bash", "dash", "zsh", "fish"]
GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)


class Wrong(AssertionError):
    """A result that is not what it must be."""


def expect(what, got, wanted):
    if got != wanted:
        raise Wrong(f"{what}: {got!r}, and not {wanted!r}")


class Soak:
    """What all of them share."""

    def __init__(self, minutes, seed):
        self.daemon = TcpDaemon()
        self.unix = f"unix:{self.daemon.home}/run/daemon.sock"
        self.end = time.monotonic() + minutes * 60
        self.seed = seed
        self.counts = {}
        self.failures = []
        self.lock = threading.Lock()
        self.kills = 0

    def is_over(self):
        return time.monotonic() > self.end or bool(self.failures)

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def fail(self, who):
        with self.lock:
            self.failures.append(f"{who}:\n{traceback.format_exc()}")

    def killer(self):
        dice = random.Random(self.seed)
        while not self.is_over():
            deadline = time.monotonic() + dice.uniform(*LIFE_SECONDS)
            while time.monotonic() < min(deadline, self.end) and not self.failures:
                time.sleep(0.05)
            if self.is_over():
                return
            try:
                self.daemon.restart()
            except Exception:
                return self.fail("the daemon did not come back")
            self.kills += 1


class Worker:
    """One client with sessions of its own."""

    def __init__(self, soak, number):
        self.soak = soak
        self.number = number
        self.dice = random.Random(soak.seed * 1000 + number)
        self.sessions = []
        self.calls = 0
        self.channel = grpc.insecure_channel(
            soak.unix, options=[("grpc.max_reconnect_backoff_ms", 200)]
        )
        self.shells = daemon_stub(self.channel)

    def work(self):
        actions = [self.create] * 2 + [self.run] * 8 + [self.cancel, self.background]
        actions += [self.dispose, self.terminal, self.subscribe, self.page]
        try:
            while not self.soak.is_over():
                action = self.dice.choice(actions)
                action()
                self.soak.count(action.__name__)
            for session in list(self.sessions):
                self.let_go(session)
        except Exception:
            self.soak.fail(f"worker {self.number}")
        finally:
            self.channel.close()

    def insist(self, method, request):
        """Repeats a call until a daemon answers it."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return getattr(self.shells, method)(request, timeout=DEADLINE)
            except grpc.RpcError as error:
                if error.code() not in GONE or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def create(self, mode=None):
        if len(self.sessions) >= SESSIONS_MAX:
            return self.dispose()
        modes = [wire.SESSION_MODE_PIPE, wire.SESSION_MODE_LINE]
        shell = "bash" if mode else self.dice.choice(SHELLS)
        request = wire.CreateSessionRequest(
            shell=shell, mode=mode or self.dice.choice(modes), startup="none"
        )
        # Nothing makes two of these one: a session whose answer was lost is found at the end.
        session = self.insist("CreateSession", request)
        self.sessions.append(session.session_id)
        return session.session_id

    def any_session(self):
        return self.dice.choice(self.sessions) if self.sessions else self.create()

    def request(self, session, command):
        self.calls += 1
        args = agent.ShellArgs(command=command, tool_call_id=f"{self.number}-{self.calls}")
        return wire.ExecuteRequest(
            session_id=session, args=args, task_id=f"soak-{self.number}"
        )

    def run(self):
        code = self.dice.choice([0, 0, 0, 1, 7])
        lines = self.dice.choice([1, 5, 300])
        mark = f"m{self.number}x{self.calls}"
        command = (
            f"seq 1 {lines}; echo {mark} >&2; sh -c 'exit {code}'"
        )
        request = self.request(self.any_session(), command)
        result = self.insist("Run", request)
        kind = result.WhichOneof("result")
        part = getattr(result, kind)
        expect("the kind", kind, "success" if code == 0 else "failure")
        expect("the code", part.exit_code, code)
        wanted = "".join(f"{n}\n" for n in range(1, lines + 1))
        expect("standard output", part.stdout, wanted)
        expect("standard error", part.stderr, f"{mark}\n")

    def cancel(self):
        request = self.request(self.any_session(), "echo begun; sleep 1000")
        begun = False
        try:
            for item in self.shells.Execute(request, timeout=DEADLINE):
                kind = item.WhichOneof("event")
                if kind == "stdout" and not begun:
                    begun = True
                    self.stop(request)
                if kind == "exit":
                    expect("whether it was cancelled", item.exit.aborted, True)
                    return
        except grpc.RpcError as error:
            if error.code() not in GONE:
                raise
        # The daemon was killed meanwhile; the command goes on, and is found by its name.
        try:
            self.stop(request)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.NOT_FOUND or begun:
                raise
            # It was killed before it had accepted the command.
            return
        result = self.insist("Run", request)
        expect("how it ended", result.WhichOneof("result"), "failure")
        expect("whether it was cancelled", result.failure.aborted, True)

    def stop(self, request):
        self.insist(
            "Cancel",
            wire.CancelRequest(
                tool_call_id=request.args.tool_call_id,
                task_id=request.task_id,
                session_id=request.session_id,
            ),
        )

    def background(self):
        self.calls += 1
        args = agent.BackgroundShellSpawnArgs(
            command="cat; sleep 1000",
            tool_call_id=f"{self.number}-{self.calls}",
            enable_write_shell_stdin_tool=True,
        )
        spawn = wire.SpawnBackgroundRequest(args=args, task_id=f"soak-{self.number}")
        result = self.insist("SpawnBackground", spawn)
        expect("whether it began", result.WhichOneof("result"), "success")
        shell_id = result.success.shell_id
        self.insist("Cancel", wire.CancelRequest(shell_id=shell_id))
        wait = wire.WaitRequest(shell_id=shell_id, exit=True, timeout_ms=DEADLINE * 1000)
        self.insist("Wait", wait)

    def terminal(self):
        """Opens a terminal, looks at it, breaks off, and throws it away."""
        session = self.create(wire.SESSION_MODE_PTY)
        if session is None:
            return
        self.look(session)
        self.let_go(session)

    def look(self, session):
        opened = threading.Event()

        def inputs():
            yield wire.AttachInput(open=wire.AttachOpen(session_id=session, cols=80, rows=24))
            opened.wait(DEADLINE)

        call = self.shells.Attach(inputs(), timeout=DEADLINE)
        try:
            next(call)
        except (grpc.RpcError, StopIteration):
            # Killed meanwhile.
            pass
        finally:
            opened.set()
            call.cancel()

    def subscribe(self):
        call = self.shells.Subscribe(
            wire.SubscribeRequest(session_id=self.any_session()), timeout=DEADLINE
        )
        try:
            for seen, event in enumerate(call):
                expect("the index", event.index, seen)
                if seen == 5 or self.dice.random() < 0.4:
                    break
        except grpc.RpcError as error:
            if error.code() not in (*GONE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise
        finally:
            call.cancel()

    def page(self):
        """Opens the page's stream of events as a browser does, and goes away without a word."""
        ready = self.soak.daemon.ready
        address = ready.split("http://")[1].split("/")[0]
        host, port = address.rsplit(":", 1)
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET /ws/events HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\n"
            f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Authorization: Bearer {self.soak.daemon.token('person')}\r\n\r\n"
        )
        try:
            with socket.create_connection((host, int(port)), timeout=DEADLINE) as stream:
                stream.sendall(head.encode())
                answer = stream.recv(4096)
                if answer:
                    expect("the answer", answer.split(b"\r\n")[0], b"HTTP/1.1 101 Switching Protocols")
        except OSError:
            # Killed meanwhile, or the next one has another port.
            pass

    def dispose(self):
        if self.sessions:
            self.let_go(self.dice.choice(self.sessions))

    def let_go(self, session):
        try:
            self.insist("DisposeSession", wire.SessionRef(session_id=session))
        except grpc.RpcError as error:
            # The answer of an earlier try was lost.
            if error.code() != grpc.StatusCode.NOT_FOUND:
                raise
        self.sessions.remove(session)


def daemon_stub(channel):
    import shellglass_v1_pb2_grpc

    return shellglass_v1_pb2_grpc.ShellExecStub(channel)


def processes(home):
    """What runs for this home: process numbers with their command lines."""
    found = {}
    mark = f"HOME={home}\0".encode()
    for entry in Path("/proc").iterdir():
        try:
            pid = int(entry.name)
            if mark in (entry / "environ").read_bytes() + b"\0":
                found[pid] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
    return found


def keeper(home):
    """The keeper of this home: reapers are forked copies of it, and have its command line."""
    alike = {pid for pid, line in processes(home).items() if " keeper " in line}
    for pid in alike:
        try:
            if status(pid, "PPid") not in alike:
                return pid
        except OSError:
            # A reaper that has ended since.
            continue
    raise RuntimeError("there is no keeper")


def status(pid, field):
    """One number of what the kernel tells about a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise RuntimeError(f"the kernel does not tell {field} of {pid}")


def memory_kib(pid):
    """What it has of its own: pages of the program come and go as the kernel likes."""
    return status(pid, "RssAnon")


def descriptors(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def entries(home):
    """Every file of the runtime directory."""
    return sorted(str(path.relative_to(home)) for path in Path(home, "run").rglob("*"))


def groups(sessions):
    """Control groups of these sessions, which a keeper makes and has to remove."""
    found = []
    for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if not os.path.isdir(folder):
            continue
        for name in os.listdir(folder):
            # Called shellglass-SESSION-…
            if name.startswith("shellglass-s-") and "-".join(name.split("-")[1:3]) in sessions:
                found.append(name)
    return found


def settle(soak):
    """Lets go of everything; what is left then is a leak."""
    shells = soak.daemon.shells
    for session in shells.ListSessions(wire.ListSessionsRequest()).sessions:
        shells.DisposeSession(wire.SessionRef(session_id=session.session_id), timeout=DEADLINE)
    until(lambda: len(processes(soak.daemon.home)) <= 2)


def check(soak, before, first_kib):
    """Compares with what was there before anything had run."""
    home = soak.daemon.home
    settle(soak)
    pid = soak.daemon.process.pid
    names = ("descriptors of the daemon", "descriptors of the keeper", "files")
    until(lambda: measured(soak) == before or time.monotonic() > soak.end + PATIENCE)
    after = measured(soak)
    for name, was, now in zip(names, before, after):
        expect(name, now, was)
    grown = memory_kib(keeper(home)) - first_kib
    if grown > GROWTH_KIB_MAX:
        raise Wrong(f"the keeper has grown by {grown} KiB")
    if memory_kib(pid) > IDLE_KIB_MAX:
        raise Wrong(f"the daemon has {memory_kib(pid)} KiB")
    print(f"memory: keeper {grown:+} KiB since the first third, daemon {memory_kib(pid)} KiB")
    verified = soak.daemon.run("audit", "verify")
    expect("the audit", verified.returncode, 0)
    with sqlite3.connect(f"file:{home}/data/journal.db?mode=ro", uri=True) as journal:
        one = lambda query: journal.execute(query).fetchone()[0]
        expect("sessions that live", one("SELECT count(*) FROM sessions WHERE disposed_ms IS NULL"), 0)
        expect("open executions", one("SELECT count(*) FROM executions WHERE ended_ms IS NULL"), 0)
        orphans = "SELECT count(*) FROM executions WHERE session NOT IN (SELECT row FROM sessions)"
        expect("rows without a session", one(orphans), 0)
        sessions = {row[0] for row in journal.execute("SELECT id FROM sessions")}
        until(lambda: not groups(sessions))
        print(f"{one('SELECT count(*) FROM executions')} executions in the journal")


def stall(soak):
    """Looks at a terminal that writes without end, and reads nothing for a minute."""
    shells = soak.daemon.shells
    session = shells.CreateSession(
        wire.CreateSessionRequest(shell="bash", mode=wire.SESSION_MODE_PTY, startup="none")
    ).session_id
    other = shells.CreateSession(wire.CreateSessionRequest(shell="bash")).session_id
    asked = wire.ExecuteRequest(session_id=other, args=agent.ShellArgs(command="echo $((6 * 7))"))
    left = threading.Event()

    def inputs():
        yield wire.AttachInput(open=wire.AttachOpen(session_id=session, cols=80, rows=24))
        yield wire.AttachInput(data=b"while :; do seq 20000; sleep 0.1; done\r")
        left.wait(2 * STALL_SECONDS)

    pid = soak.daemon.process.pid
    before = memory_kib(pid)
    call = shells.Attach(inputs(), timeout=4 * STALL_SECONDS)
    try:
        next(call)
        end = time.monotonic() + STALL_SECONDS
        while time.monotonic() < end:
            result = shells.Run(asked, timeout=DEADLINE)
            expect("another's output", result.success.stdout, "42\n")
            grown = memory_kib(pid) - before
            if grown > STALL_KIB_MAX:
                raise Wrong(f"a view that reads nothing has cost {grown} KiB")
            time.sleep(1)
        # It is told how much it has missed, once it has read what was on its way.
        for shown in call:
            if shown.property.name == "missed" and int(shown.property.value) > 1 << 20:
                break
        else:
            raise Wrong("a view that read nothing was not told what it has missed")
    finally:
        left.set()
        call.cancel()
        for one in (session, other):
            shells.DisposeSession(wire.SessionRef(session_id=one), timeout=DEADLINE)
    soak.count("stalled")


def measured(soak):
    home = soak.daemon.home
    return descriptors(soak.daemon.process.pid), descriptors(keeper(home)), entries(home)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"soak: {given.minutes} minutes, seed {given.seed}", flush=True)
    soak = Soak(given.minutes, given.seed)
    try:
        soak.daemon.run("run", "true", check=True)
        settle(soak)
        soak.daemon.restart()
        # With a connection, as at the end.
        settle(soak)
        stall(soak)
        soak.end = time.monotonic() + given.minutes * 60
        settle(soak)
        before = measured(soak)
        workers = [Worker(soak, number) for number in range(WORKERS)]
        threads = [threading.Thread(target=worker.work) for worker in workers]
        threads.append(threading.Thread(target=soak.killer))
        for thread in threads:
            thread.start()
        while not soak.is_over() and time.monotonic() < soak.end - given.minutes * 40:
            time.sleep(0.1)
        first_kib = memory_kib(keeper(soak.daemon.home))
        for thread in threads:
            thread.join(timeout=given.minutes * 60 + 4 * PATIENCE)
        if any(thread.is_alive() for thread in threads):
            soak.failures.append("somebody hangs")
        if not soak.failures:
            soak.daemon.restart()
            check(soak, before, first_kib)
    except Exception:
        soak.fail("soak")
    for failure in soak.failures:
        print(failure, file=sys.stderr)
    done = ", ".join(f"{count} {what}" for what, count in sorted(soak.counts.items()))
    print(f"{done}, {soak.kills} kills; {len(soak.failures)} wrong")
    if soak.failures:
        log = Path(soak.daemon.home, "log").read_text(errors="replace").splitlines()
        print("\n".join(log[-30:]), file=sys.stderr)
    soak.daemon.stop()
    return 1 if soak.failures else 0


if __name__ == "__main__":
    # A thread that hangs must not keep us.
    status = main()
    sys.stdout.flush()
    os._exit(status)
