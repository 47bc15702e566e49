"""Clients of MCP as agents have them, and the people behind them."""

import asyncio
import json
import os
import shutil
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

from daemon import BINARY, DEADLINE, Daemon, until


class Home(Daemon):
    """Directories of its own. The daemon is whichever the server starts."""

    def __init__(self, **settings):
        super().__init__()
        # Nobody is there to be asked, unless a test is about that.
        self.environment.update({"SHELLGLASS_POLICY_AGENT": "deny", **settings})

    def start(self):
        """Nothing: that a server starts the daemon is part of what is tested."""

    def pid(self):
        """The daemon's process, as it says itself."""
        return int((Path(self.home) / "run/daemon.pid").read_text())

    def kill(self):
        """Kills the daemon, as a crash would."""
        os.kill(self.pid(), signal.SIGKILL)

    def stop(self):
        """Ends every session, the daemon and its keeper."""
        try:
            listed = json.loads(self.run("session", "list", "--json").stdout)
            for session in listed["sessions"]:
                self.run("session", "dispose", session["sessionId"])
            pid = self.pid()
            os.kill(pid, signal.SIGTERM)
            until(lambda: not Path(f"/proc/{pid}").exists() or is_zombie(pid))
        finally:
            self.log.close()
            self.end_keeper()
            shutil.rmtree(self.home, ignore_errors=True)


def is_zombie(pid):
    """Whether nobody has asked yet how a process ended."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def alive(pattern):
    """Whether a process with this word on its command line runs."""
    for entry in Path("/proc").iterdir():
        try:
            if pattern.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                return not is_zombie(entry.name)
        except OSError:
            continue
    return False


class Client:
    """One connection of the SDK's."""

    def __init__(self, home, folder=None, elicit=None):
        self.home = home
        self.folder = folder or home.home
        self.elicit = elicit

    async def streams(self):
        """The way to a server of this client's own."""
        server = StdioServerParameters(
            command=BINARY, args=["mcp"], env=self.home.environment, cwd=self.folder
        )
        return await self.stack.enter_async_context(stdio_client(server, errlog=sys.stderr))

    async def __aenter__(self):
        self.stack = AsyncExitStack()
        session = ClientSession(*await self.streams(), elicitation_callback=self.elicit)
        self.session = await self.stack.enter_async_context(session)
        self.introduced = await self.session.initialize()
        return self

    async def __aexit__(self, *error):
        await self.stack.aclose()

    async def call(self, tool, **arguments):
        """A call, its text and its fields. The SDK checks them against the schema."""
        result = await asyncio.wait_for(self.session.call_tool(tool, arguments), DEADLINE * 2)
        text = "".join(block.text for block in result.content)
        return text, result.structured_content, bool(result.is_error)

    async def run(self, command, **arguments):
        """Runs a command that is expected to be run."""
        text, fields, is_error = await self.call("execute_command", command=command, **arguments)
        assert not is_error, text
        return text, fields


class Person:
    """Somebody at a client: answers what is asked, in this order, and then thinks for ever."""

    def __init__(self, *answers):
        self.asked = []
        self.is_asked = asyncio.Event()
        self.is_taken_back = asyncio.Event()
        self.answers = asyncio.Queue()
        for answer in answers:
            self.answers.put_nowait(answer)

    async def __call__(self, context, params):
        self.asked.append(params)
        self.is_asked.set()
        try:
            answer = await self.answers.get()
        except asyncio.CancelledError:
            self.is_taken_back.set()
            raise
        if answer in ("cancel", "decline"):
            return types.ElicitResult(action=answer)
        return types.ElicitResult(action="accept", content={"decision": answer})
