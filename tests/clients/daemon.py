"""A daemon of its own for each test class, and a client made by grpcio from the contract."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[2]
PROTO = ROOT / "crates/glass-proto/proto"
BINARY = os.environ.get("SHELLGLASS_BIN", str(ROOT / "target/tested/shellglass"))

# Longest wait for anything here, in seconds.
DEADLINE = 30


def compile_contract():
    """Compiles the .proto files as any client would, and imports the result."""
    made = tempfile.mkdtemp(prefix="shellglass-proto-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    status = protoc.main(
        ["protoc", f"-I{PROTO}", f"--python_out={made}", f"--grpc_python_out={made}"]
        + [str(path) for path in sorted(PROTO.glob("*.proto"))]
    )
    if status != 0:
        raise RuntimeError("the contract does not compile")
    sys.path.insert(0, made)
    import agent_v1_pb2
    import shellglass_v1_pb2
    import shellglass_v1_pb2_grpc

    return agent_v1_pb2, shellglass_v1_pb2, shellglass_v1_pb2_grpc


agent, wire, service = compile_contract()


class Presenting(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Presents a token with every call."""

    def __init__(self, token):
        self.metadata = [("authorization", f"Bearer {token}")]

    def intercept(self, continuation, details, request):
        return continuation(details._replace(metadata=self.metadata), request)

    intercept_unary_unary = intercept
    intercept_unary_stream = intercept
    intercept_stream_stream = intercept


class Daemon:
    """A daemon with directories of its own. What it says is kept when a test fails."""

    binary = BINARY

    def __init__(self, *flags, variables=None):
        self.flags = flags
        self.home = tempfile.mkdtemp(prefix="sg-")
        # The start files of whoever runs the tests are none of their business.
        # Walls have tests of their own; these are about what clients see.
        self.environment = dict(
            os.environ,
            SHELLGLASS_HOME=self.home,
            HOME=self.home,
            SHELLGLASS_SANDBOX_DEFAULT="none",
            SHELLGLASS_SANDBOX_AGENT="none",
            **(variables or {}),
        )
        self.log = open(Path(self.home) / "log", "w+b")
        self.start()

    def start(self):
        """Starts the process and waits until it is ready."""
        self.process = subprocess.Popen(
            [self.binary, "serve", *self.flags],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.ready = self.process.stdout.readline()
        if "listening on" not in self.ready:
            self.log.seek(0)
            raise RuntimeError(f"no daemon: {self.ready}{self.log.read().decode()}")
        self.channel = self.connect()
        self.shells = service.ShellExecStub(self.channel)

    def connect(self):
        """A channel as any program would make it: over the Unix socket."""
        return grpc.insecure_channel(f"unix:{self.home}/run/daemon.sock")

    def restart(self):
        """Kills the process, as a crash would, and starts another one."""
        self.channel.close()
        self.process.kill()
        self.process.wait(timeout=DEADLINE)
        self.process.stdout.close()
        self.start()

    def token(self, role):
        """The secret that callers of a role present."""
        return (Path(self.home) / f"data/{role}.token").read_text().strip()

    def run(self, *arguments, **options):
        """Runs the program as a person would."""
        return subprocess.run(
            [self.binary, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE,
            **options,
        )

    def stop(self):
        """Ends every session, then the daemon, and checks that it goes."""
        try:
            for session in self.shells.ListSessions(wire.ListSessionsRequest()).sessions:
                self.shells.DisposeSession(wire.SessionRef(session_id=session.session_id))
        finally:
            self.channel.close()
            self.process.terminate()
            self.process.wait(timeout=DEADLINE)
            self.process.stdout.close()
            self.log.close()
            self.end_keeper()
        shutil.rmtree(self.home, ignore_errors=True)

    def end_keeper(self):
        """Ends the keeper, which would wait a while for another daemon."""
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"keeper" in words and f"{self.home}/run/keeper.sock".encode() in words:
                    os.kill(int(entry.name), 9)
            except (OSError, ValueError):
                # Not a process, or not one any more.
                continue


class TcpDaemon(Daemon):
    """The same over TCP, where only a token counts."""

    def __init__(self):
        super().__init__("--listen", "127.0.0.1:0")

    def connect(self):
        """A channel that presents a person's token."""
        address = self.ready.split("http://")[1].split("/")[0]
        self.bare = grpc.insecure_channel(address)
        return grpc.intercept_channel(self.bare, Presenting(self.token("person")))

    def restart(self):
        self.bare.close()
        super().restart()

    def stop(self):
        super().stop()
        self.bare.close()


def until(condition):
    """Waits for a condition, never for a time."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the condition never held")
        time.sleep(0.01)
