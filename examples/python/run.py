#!/usr/bin/env python3
"""Runs a command through Shellglass and shows what it writes as it comes.

usage: run.py COMMAND

Needs grpcio and grpcio-tools, and a daemon (`shellglass serve --detach`).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import grpc
from grpc_tools import protoc

PROTO = Path(__file__).resolve().parents[2] / "crates/glass-proto/proto"


def contract(folder):
    """Compiles the contract, as any client would, and imports the result."""
    files = [str(path) for path in sorted(PROTO.glob("*.proto"))]
    out = [f"--python_out={folder}", f"--grpc_python_out={folder}"]
    if protoc.main(["protoc", f"-I{PROTO}", *out, *files]) != 0:
        sys.exit("the contract does not compile")
    sys.path.insert(0, folder)
    import agent_v1_pb2
    import shellglass_v1_pb2
    import shellglass_v1_pb2_grpc

    return agent_v1_pb2, shellglass_v1_pb2, shellglass_v1_pb2_grpc


def socket():
    """Where the daemon of this user listens."""
    printed = subprocess.run(
        ["shellglass", "config", "path"], check=True, capture_output=True, text=True
    ).stdout
    places = dict(line.split(maxsplit=1) for line in printed.splitlines())
    return f"unix:{places['runtime']}/daemon.sock"


def main(command):
    with tempfile.TemporaryDirectory() as folder, grpc.insecure_channel(socket()) as channel:
        agent, wire, service = contract(folder)
        shells = service.ShellExecStub(channel)
        session = shells.CreateSession(wire.CreateSessionRequest())
        request = wire.ExecuteRequest(
            session_id=session.session_id, args=agent.ShellArgs(command=command)
        )
        code = 125
        for item in shells.Execute(request):
            kind = item.WhichOneof("event")
            if kind == "stdout":
                sys.stdout.buffer.write(item.stdout.raw or item.stdout.data.encode())
                sys.stdout.flush()
            elif kind == "stderr":
                sys.stderr.buffer.write(item.stderr.raw or item.stderr.data.encode())
            elif kind == "exit":
                code = item.exit.code
            elif kind != "start":
                print(item, file=sys.stderr)
        shells.DisposeSession(wire.SessionRef(session_id=session.session_id))
        return code


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
