"""`shellglass mcp` as clients see it that nobody here wrote: the official Python SDK."""

import asyncio
import json
import signal
import unittest
from pathlib import Path

from mcp import MCPError

from agents import Client, Home, alive
from daemon import until


class Mcp(unittest.IsolatedAsyncioTestCase):
    make = Home

    @classmethod
    def setUpClass(cls):
        cls.home = cls.make()

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    def connect(self):
        """A client of its own; each has a session of its own."""
        return Client(self.home)

    def file(self, name):
        return Path(self.home.home) / name

    async def refused(self, client, tool, *words, **arguments):
        """A call that is answered with an error a model can read."""
        text, _, is_error = await client.call(tool, **arguments)
        self.assertTrue(is_error, text)
        for word in words:
            self.assertIn(word, text)
        self.assertIn("hint: ", text)

    async def test_it_introduces_itself_and_its_tools(self):
        async with self.connect() as client:
            self.assertEqual(client.introduced.server_info.name, "shellglass")
            self.assertIn("background: true", client.introduced.instructions)
            tools = {tool.name: tool for tool in (await client.session.list_tools()).tools}
        self.assertEqual(
            set(tools),
            {
                "execute_command",
                "read_output",
                "write_stdin",
                "wait",
                "list_sessions",
                "cancel",
                "dispose_session",
                "check_command",
            },
        )
        for tool in tools.values():
            self.assertFalse(tool.input_schema["additionalProperties"])
            self.assertEqual(tool.output_schema["type"], "object")
            self.assertTrue(tool.description)
            for about in tool.input_schema.get("properties", {}).values():
                self.assertTrue(about["description"])

    async def test_exit_codes_are_the_commands_own(self):
        async with self.connect() as client:
            for command, code in (("true", 0), ("false", 1), ("(exit 7)", 7), ("nosuchcmd", 127)):
                text, fields = await client.run(command)
                self.assertEqual((fields["exit_code"], fields["status"]), (code, "exited"))
                self.assertIn(f"[exit code {code}", text)
            text, fields = await client.run("bash -c 'kill -SEGV $$'")
            self.assertEqual((fields["exit_code"], fields["signal"]), (139, "SIGSEGV"))
            self.assertIn("memory that is not its own", text)

    async def test_state_is_kept_and_directories_are_told(self):
        async with self.connect() as client:
            _, first = await client.run("cd /usr; export A=1; B=2; f() { echo f$A$B; }")
            self.assertEqual((first["cwd"], first["cwd_changed"]), ("/usr", True))
            text, second = await client.run("pwd; f")
            self.assertEqual(second["output"], "/usr\nf12\n")
            self.assertEqual((second["cwd"], second["cwd_changed"]), ("/usr", False))
            self.assertEqual(first["session_id"], second["session_id"])
            _, third = await client.run("pwd", cwd="lib")
            self.assertEqual((third["output"], third["cwd_changed"]), ("/usr/lib\n", True))
            self.assertEqual(second["sandbox"]["type"], "none")
        # Another connection has a session of its own.
        async with self.connect() as client:
            _, fields = await client.run("pwd; echo $A")
            self.assertEqual(fields["output"], f"{self.home.home}\n\n")

    async def test_both_streams_arrive_as_a_terminal_shows_them(self):
        async with self.connect() as client:
            _, fields = await client.run("echo out; echo err >&2; printf '10%%\\r99%%\\n'")
            # The order within a stream is kept; between two pipes there is none.
            shown = fields["output"].splitlines()
            self.assertEqual([line for line in shown if line != "err"], ["out", "99%"])
            self.assertEqual(shown.count("err"), 1)
            _, fields = await client.run("printf '\\033[31mred\\033[0m\\n\\377\\n'")
            self.assertEqual(fields["output"], "red\n\ufffd\n")

    async def test_budgets_are_kept(self):
        async with self.connect() as client:
            text, fields = await client.run("seq 20000", max_chars=2000)
            self.assertLessEqual(len(fields["output"]), 2000)
            self.assertTrue(fields["truncated"])
            self.assertTrue(fields["output"].startswith("1\n2\n"))
            self.assertTrue(fields["output"].endswith("20000\n"))
            whole = "".join(f"{n}\n" for n in range(1, 20001))
            for part in fields["elisions"]:
                _, read, _ = await client.call(
                    "read_output",
                    shell_id=fields["shell_id"],
                    offset=part["offset"],
                    max_chars=part["length"],
                )
                self.assertEqual(
                    read["output"], whole[part["offset"] : part["offset"] + part["length"]]
                )
            _, fields = await client.run("seq 100", head=2, tail=1)
            shown = [line for line in fields["output"].splitlines() if not line.startswith("[")]
            self.assertEqual(shown, ["1", "2", "100"])
            _, fields = await client.run("seq 100", grep="^4.$")
            shown = [line for line in fields["output"].splitlines() if not line.startswith("[")]
            self.assertEqual(shown, [str(n) for n in range(40, 50)])

    async def test_a_second_run_shows_what_is_new_and_every_error(self):
        state = self.file("state")
        command = "seq 1 3000; echo 'error: it broke'; cat state; exit 3"
        async with Client(self.home) as client:
            state.write_text("one\n")
            _, first = await client.run(command)
            self.assertIsNone(first["same_as"])
            state.write_text("two\n")
            text, second = await client.run(command)
            self.assertEqual(second["same_as"], first["shell_id"])
            self.assertEqual(second["exit_code"], 3)
            self.assertIn("[exit code 3 ", text)
            self.assertIn("error: it broke\ntwo\n", second["output"])
            self.assertIn("; 1 line of it is gone]", second["output"])
            self.assertLess(len(second["output"]), 400)
            # What is left out is read by its offset.
            (missing,) = second["elisions"]
            _, read, _ = await client.call(
                "read_output",
                shell_id=second["shell_id"],
                offset=missing["offset"],
                max_chars=missing["length"],
            )
            self.assertEqual(read["output"], "".join(f"{n}\n" for n in range(1, 3001)))
            # Elsewhere it is another command.
            _, elsewhere = await client.run(command.replace("cat state", "cat /dev/null"), cwd="/")
            self.assertIsNone(elsewhere["same_as"])

    async def test_what_a_command_leaves_behind_is_told(self):
        async with Client(self.home) as client:
            text, fields = await client.run("sleep 1000.5 > /dev/null 2>&1 & echo $!")
            pid = int(fields["output"])
            receipt = fields["receipt"]
            self.assertEqual((receipt["left_count"], receipt["left"][0]["pid"]), (1, pid))
            self.assertIn(f"(pid {pid})", text)
            self.assertIn("[still alive: ", text)
            await client.call("execute_command", command=f"kill {pid}")

    async def test_the_name_of_a_secret_moves_no_offset(self):
        token = "ghp_FAKEIE5bqsJyJ1VEY10ENenPz0zjIuWSRSFk"
        async with Client(self.home) as client:
            _, fields = await client.run(f"echo {token}; echo after")
            written = len(f"{token}\nafter\n")
            _, read, _ = await client.call("read_output", shell_id=fields["shell_id"], offset=0)
            self.assertEqual(read["output"], "ghp_[REDACTED:github-token]\nafter\n")
            self.assertEqual((read["next_offset"], read["dropped_bytes"]), (written, 0))
            self.assertFalse(read["more"])
            self.assertEqual(fields["next_offset"], written)
            # Also behind it: what is left out is found where it is said to be.
            command = f"echo {token}; seq 20000; echo {token}; seq 20000; echo found me"
            _, fields = await client.run(command, max_chars=3000)
            numbers = "".join(f"{n}\n" for n in range(1, 20001))
            raw = f"{token}\n{numbers}{token}\n{numbers}found me\n"
            self.assertEqual(fields["next_offset"], len(raw))
            for part in fields["elisions"]:
                start, end = part["offset"], part["offset"] + part["length"]
                _, read, _ = await client.call(
                    "read_output", shell_id=fields["shell_id"], offset=start, lines=1
                )
                line = raw[start:].split("\n")[0].replace(token, "ghp_[REDACTED:github-token]")
                self.assertEqual(read["output"], line + "\n")
                self.assertEqual(raw[end - 1], "\n")
                self.assertEqual(raw[start - 1], "\n")
            _, found, _ = await client.call(
                "read_output", shell_id=fields["shell_id"], search="found me"
            )
            self.assertEqual(found["output"], f"{raw.index('found me')}: found me\n")

    async def test_the_middle_of_a_long_log_is_read(self):
        line = "%08d some words of a log that nobody reads\n"
        count = 52_000_000 // len(line % 0)
        make = f"awk 'BEGIN {{ for (i = 0; i < {count}; i++) printf \"{line[:-1]}\\n\", i }}'"
        async with self.connect() as client:
            text, fields = await client.run(make, yield_ms=50000)
            self.assertLess(len(text), 20_000)
            size = count * len(line % 0)
            self.assertEqual((fields["exit_code"], fields["next_offset"]), (0, size))
            middle = count // 2
            shell_id, offset = fields["shell_id"], middle * len(line % 0)
            _, read, _ = await client.call("read_output", shell_id=shell_id, offset=offset, lines=2)
            self.assertEqual(read["output"], line % middle + line % (middle + 1))
            self.assertEqual(read["next_offset"], offset + 2 * len(line % 0))
            _, found, _ = await client.call("read_output", shell_id=shell_id, search=f"^{middle:08d} ")
            self.assertEqual(found["matches"], 1)
            self.assertEqual(found["output"], f"{offset}: {line % middle}")

    async def test_a_long_command_yields_and_goes_on(self):
        reports = []

        async def progress(done, total, message):
            reports.append((done, message))

        async with self.connect() as client:
            command = "echo early; until test -e go; do sleep 0.02; done; echo late; (exit 3)"
            result = await client.session.call_tool(
                "execute_command",
                {"command": command, "yield_ms": 2300},
                progress_callback=progress,
            )
            fields = result.structured_content
            self.assertEqual((fields["running"], fields["exit_code"]), (True, None))
            self.assertEqual(fields["output"], "early\n")
            self.assertIn("still running", result.content[0].text)
            self.assertGreaterEqual(len(reports), 2)
            self.assertEqual(sorted(reports), reports)
            self.assertIn("early", reports[0][1])
            text, waited, _ = await client.call("wait", shell_id=fields["shell_id"], timeout_ms=100)
            self.assertEqual((waited["reason"], waited["running"]), ("timeout", True))
            self.file("go").touch()
            text, waited, _ = await client.call("wait", shell_id=fields["shell_id"])
            self.file("go").unlink()
            self.assertEqual((waited["reason"], waited["exit_code"]), ("exit", 3))
            self.assertEqual(waited["output"], "late\n")
            # What waited behind it runs now.
            _, fields = await client.run("echo next")
            self.assertEqual(fields["output"], "next\n")

    async def test_a_server_in_the_background_is_waited_for(self):
        async with self.connect() as client:
            serve = "python3 -u -m http.server 0 --bind 127.0.0.1"
            _, begun = await client.run(serve, background=True)
            self.assertTrue(begun["running"])
            shell_id = begun["shell_id"]
            said = begun["output"]
            # What was shown already is not waited for.
            if not said:
                _, waited, _ = await client.call("wait", shell_id=shell_id, pattern=r" port \d+ ")
                self.assertEqual(waited["reason"], "pattern")
                said = waited["output"]
            port = int(said.split(" port ")[1].split()[0])
            _, waited, _ = await client.call("wait", shell_id=shell_id, port=port)
            self.assertEqual((waited["reason"], waited["matched"]), ("port", str(port)))
            _, waited, _ = await client.call("wait", shell_id=shell_id, quiet_ms=100)
            self.assertEqual(waited["reason"], "quiet")
            # The agent's own session is free meanwhile.
            _, fields = await client.run("touch appeared")
            _, waited, _ = await client.call("wait", shell_id=shell_id, file="appeared")
            self.assertEqual(waited["reason"], "file")
            # Tests against it pass or fail as they do.
            for name, code in (("appeared", 0), ("vanished", 1)):
                test = f"python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/{name}')\""
                _, tested = await client.run(test)
                self.assertEqual(tested["exit_code"], code, tested)
            text, listed, _ = await client.call("list_sessions")
            self.assertIn(shell_id, [line["shell_id"] for line in listed["background"]])
            self.assertEqual([line["own"] for line in listed["sessions"]].count(True), 1)
            _, cancelled, _ = await client.call("cancel", shell_id=shell_id)
            self.assertTrue(cancelled["cancelled"])
            _, cancelled, _ = await client.call("cancel", shell_id=shell_id)
            self.assertFalse(cancelled["cancelled"])

    async def test_a_background_command_is_written_to_and_shows_what_it_says(self):
        async with self.connect() as client:
            await client.run("mkdir -p beside; cd beside; export COLOUR=green")
            ask = "echo $COLOUR ${PWD##*/}; read -r name; echo hello $name; cat; exit 3"
            _, begun = await client.run(ask, background=True)
            self.assertTrue(begun["running"])
            shell_id = begun["shell_id"]
            write = lambda chars: client.call("write_stdin", shell_id=shell_id, chars=chars)
            text, fields, _ = await write("world\n")
            self.assertEqual(begun["output"] + fields["output"], "green beside\nhello world\n")
            text, fields, _ = await write("more\n\u0004")
            self.assertEqual((fields["output"], fields["exit_code"]), ("more\n", 3))
            await self.refused(client, "write_stdin", "is over", shell_id=shell_id, chars="x")
            _, begun = await client.run("exec sleep 1000", background=True)
            _, fields, _ = await client.call(
                "write_stdin", shell_id=begun["shell_id"], chars="\u0003"
            )
            self.assertEqual((fields["running"], fields["exit_code"]), (False, 130))
            # One that is no background command has none.
            _, begun = await client.run("sleep 1000", yield_ms=100)
            await self.refused(
                client, "write_stdin", "background: true", shell_id=begun["shell_id"], chars="x"
            )
            await client.call("cancel", shell_id=begun["shell_id"])

    async def test_a_call_that_the_client_cancels_ends_its_command(self):
        async with self.connect() as client:
            nap = "40.4242"
            call = asyncio.create_task(client.run(f"sleep {nap}; touch never", yield_ms=50000))
            await asyncio.to_thread(until, lambda: alive(nap))
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            await asyncio.to_thread(until, lambda: not alive(nap))
            _, fields = await client.run("echo on")
            self.assertEqual(fields["output"], "on\n")
        self.assertFalse(self.file("never").exists())

    async def test_a_command_can_have_a_terminal(self):
        async with self.connect() as client:
            asked = "test -t 0 && test -t 1 && echo one && exit 3"
            text, fields, _ = await client.call("execute_command", command=asked, tty=True)
            self.assertIn("one", text)
            self.assertEqual(fields["exit_code"], 3)

    async def test_bad_arguments_are_named(self):
        async with self.connect() as client:
            refused = lambda *words, **arguments: self.refused(
                client, "execute_command", *words, **arguments
            )
            await refused("command")
            await refused("comand", command="true", comand=1)
            await refused("command", command=5)
            await refused("yield_ms", "-1", command="true", yield_ms=-1)
            await refused("max_chars", command="true", max_chars=1.5)
            await refused("grep", command="true", grep="(")
            await refused("sandbox", command="true", sandbox={"type": "everything"})
            await refused("bytes", command="x" * (5 << 20))
            await refused("s-nope", command="true", session_id="s-nope")
            await refused("NUL", command="echo \0")
            _, fields = await client.run("printf 0123456789")
            shell_id = fields["shell_id"]
            await self.refused(client, "read_output", "10 bytes", shell_id=shell_id, offset=11)
            await self.refused(client, "read_output", "offset", shell_id=shell_id, offset=-1)
            await self.refused(client, "read_output", "4000000000", shell_id=4_000_000_000)
            await self.refused(client, "wait", "4000000000", shell_id=4_000_000_000)
            await self.refused(client, "wait", "port", shell_id=shell_id, port=70000)
            await self.refused(client, "write_stdin", "is over", shell_id=shell_id, chars="x")
            await self.refused(client, "write_stdin", "4000000000", shell_id=4_000_000_000, chars="x")
            _, nap = await client.run("sleep 46.4242", yield_ms=0)
            await self.refused(client, "write_stdin", "background", shell_id=nap["shell_id"], chars="x")
            await client.call("cancel", shell_id=nap["shell_id"])
            await self.refused(client, "wait", "pattern", shell_id=shell_id, pattern="(")
            await self.refused(client, "dispose_session", "s-nope", session_id="s-nope")
            with self.assertRaises(MCPError) as caught:
                await client.call("execute")
            self.assertIn("execute_command", str(caught.exception))
            _, fields = await client.run("echo still here")
            self.assertEqual(fields["output"], "still here\n")

    async def test_a_hundred_calls_at_once_are_all_answered(self):
        async with self.connect() as client:
            calls = [client.run(f"echo {number}") for number in range(100)]
            answers = await asyncio.gather(*calls)
        self.assertEqual(
            [fields["output"] for _, fields in answers], [f"{number}\n" for number in range(100)]
        )

    async def test_a_daemon_that_is_killed_is_started_and_nothing_is_lost(self):
        async with self.connect() as client:
            _, before = await client.run("cd /usr; X=kept; echo before")
            wait = "echo one; until test -e on; do sleep 0.02; done; echo two; (exit 5)"
            folder = self.home.home
            call = asyncio.create_task(client.run(f"cd {folder}; {wait}", yield_ms=50000))
            await asyncio.to_thread(until, lambda: self.busy())
            self.home.kill()
            self.file("on").touch()
            _, fields = await call
            self.file("on").unlink()
            self.assertEqual((fields["output"], fields["exit_code"]), ("one\ntwo\n", 5))
            # The warm shell is the same one.
            _, fields = await client.run("echo $X")
            self.assertEqual((fields["output"], fields["session_id"]), ("kept\n", before["session_id"]))
            _, read, _ = await client.call("read_output", shell_id=before["shell_id"], offset=0)
            self.assertEqual(read["output"], "before\n")

    def busy(self):
        listed = json.loads(self.home.run("session", "list", "--json").stdout)
        return any(session["running"] for session in listed["sessions"])

    async def test_a_disposed_session_is_followed_by_a_new_one(self):
        async with self.connect() as client:
            _, first = await client.run("X=1; cd /usr")
            text, disposed, _ = await client.call("dispose_session", session_id=first["session_id"])
            self.assertEqual(disposed["session_id"], first["session_id"])
            _, second = await client.run("echo $X; pwd")
            self.assertEqual(second["output"], f"\n{self.home.home}\n")
            # Also where somebody else disposes of it.
            self.home.run("session", "dispose", second["session_id"])
            text, third = await client.run("pwd")
            self.assertIn("in a new one", text)
            self.assertNotEqual(third["session_id"], second["session_id"])

    async def test_a_call_that_waits_for_its_session_is_asked_again_and_runs_once(self):
        async with self.connect() as client:
            _, slow = await client.run("until test -e free; do sleep 0.02; done", yield_ms=0)
            again = {"command": "echo x >>times; cat times", "yield_ms": 200}
            text, _, _ = await client.call("execute_command", **again)
            self.assertIn(f"shell_id {slow['shell_id']}", text)
            text, fields, _ = await client.call("execute_command", **again)
            self.assertEqual((fields["status"], fields["shell_id"]), ("queued", None))
            self.file("free").touch()
            _, fields = await client.run(again["command"])
            self.file("free").unlink()
            self.assertEqual(fields["output"], "x\n")
        self.file("times").unlink()

    async def test_timeouts_end_the_command(self):
        async with self.connect() as client:
            text, fields = await client.run("echo before; sleep 1000", timeout_ms=300)
            self.assertTrue(fields["aborted"])
            self.assertEqual(fields["output"], "before\n")
            self.assertIn("its time ran out", text)

    async def test_check_command_runs_nothing(self):
        async with self.connect() as client:
            text, fields, _ = await client.call("check_command", command="touch x; rm -rf /")
            self.assertEqual(fields["decision"], "deny")
            self.assertEqual(fields["commands"], ["touch x", "rm -rf /"])
        self.assertFalse(self.file("x").exists())

    async def test_resources_are_listed_and_read(self):
        async with self.connect() as client:
            _, fields = await client.run("echo resource")
            listed = (await client.session.list_resources()).resources
            uris = [str(resource.uri) for resource in listed]
            session = f"shellglass://session/{fields['session_id']}"
            output = f"shellglass://output/{fields['shell_id']}"
            self.assertIn(session, uris)
            self.assertIn(output, uris)
            read = await client.session.read_resource(output)
            self.assertEqual(read.contents[0].text, "resource\n")
            read = await client.session.read_resource(session)
            page = json.loads(read.contents[0].text)
            self.assertEqual(page["session"]["lastCommand"], "echo resource")
            for uri in ("shellglass://session/s-nope", "shellglass://output/x", "shellglass://y"):
                with self.assertRaises(MCPError):
                    await client.session.read_resource(uri)

    async def test_the_role_is_an_agents(self):
        async with self.connect() as client:
            created = self.home.run("session", "create", "--name", "a person's")
            mine = created.stdout.decode().strip()
            text, _, is_error = await client.call(
                "execute_command", command="true", session_id=mine
            )
            self.assertTrue(is_error)
            self.assertIn("an agent sees the sessions that agents made", text)


if __name__ == "__main__":
    unittest.main()
