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
BINARY = os.environ.get("SHELLGLASS_BIN", str(ROOT / "target/release/shellglass"))

# Longest wait for anything here, in seconds.
DEADLINE = 20


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


class Daemon:
    """A daemon with directories of its own. What it says is kept when a test fails."""

    def __init__(self, *flags):
        self.home = tempfile.mkdtemp(prefix="sg-")
        self.environment = dict(os.environ, SHELLGLASS_HOME=self.home)
        self.log = open(Path(self.home) / "log", "w+b")
        self.process = subprocess.Popen(
            [BINARY, "serve", *flags],
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
        # grpcio would send the socket's path as the authority, which is not one.
        self.channel = grpc.insecure_channel(
            f"unix:{self.home}/run/daemon.sock",
            options=[("grpc.default_authority", "localhost")],
        )
        self.shells = service.ShellExecStub(self.channel)

    def run(self, *arguments, **options):
        """Runs the program as a person would."""
        return subprocess.run(
            [BINARY, *arguments],
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
        shutil.rmtree(self.home, ignore_errors=True)


def until(condition):
    """Waits for a condition, never for a time."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the condition never held")
        time.sleep(0.01)
