"""MCP at its bounds: quotas, walls, and lines that are no messages."""

import json
import subprocess
import unittest
from pathlib import Path

from agents import Client, Home, alive
from daemon import BINARY, DEADLINE, ROOT, until


class Quota(unittest.IsolatedAsyncioTestCase):
    """Where not everything is kept."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home(SHELLGLASS_LIMITS_EXECUTION_OUTPUT_BYTES_MAX="300000")

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    async def test_offsets_stay_true_around_what_was_not_kept(self):
        lines = 1_000_000
        async with Client(self.home) as client:
            # Lines of eight bytes: a line's number tells its offset.
            _, fields = await client.run(f"seq -f %07.0f 0 {lines - 1}", max_chars=4000)
            self.assertEqual(fields["next_offset"], 8 * lines)
            self.assertGreater(fields["dropped_bytes"], 7_000_000)
            self.assertIn(f"[... {fields['dropped_bytes']} bytes were not kept", fields["output"])
            self.assertTrue(fields["output"].startswith("0000000\n"))
            self.assertTrue(fields["output"].endswith(f"{lines - 1:07}\n"))
            self.assertLessEqual(len(fields["output"]), 4000)
            shell_id = fields["shell_id"]
            for part in fields["elisions"]:
                _, read, _ = await client.call(
                    "read_output", shell_id=shell_id, offset=part["offset"], lines=1
                )
                self.assertEqual(read["output"], f"{part['offset'] // 8:07}\n")
            # A read in the middle of the hole goes on after it, and says so.
            _, read, _ = await client.call("read_output", shell_id=shell_id, offset=4_000_000, lines=1)
            after = 4_000_000 + read["dropped_bytes"]
            self.assertGreater(read["dropped_bytes"], 0)
            self.assertEqual(read["next_offset"] - len(read["output"]), after)
            number = lines - 5
            _, found, _ = await client.call("read_output", shell_id=shell_id, search=f"^{number:07}$")
            self.assertEqual(found["output"], f"{number * 8}: {number:07}\n")


class Walls(unittest.IsolatedAsyncioTestCase):
    """Behind walls, as agents are unless somebody says otherwise."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home(SHELLGLASS_SANDBOX_DEFAULT="rw", SHELLGLASS_SANDBOX_AGENT="rw")

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    async def test_a_server_of_the_session_is_waited_for_and_reached(self):
        serve = (
            "import socket; s = socket.create_server(('127.0.0.1', 0));"
            "print('port', s.getsockname()[1], flush=True); s.accept()[0].send(b'hello')"
        )
        reach = "import socket; print(socket.create_connection(('127.0.0.1', {})).recv(5))"
        async with Client(self.home, folder=ROOT) as client:
            _, begun = await client.run(f'python3 -c "{serve}" &')
            self.assertEqual(begun["sandbox"], {"type": "rw", "network": False})
            shell_id = begun["shell_id"]
            # The line's end is part of the pattern: it may be written in pieces.
            _, waited, _ = await client.call("wait", shell_id=shell_id, pattern=r"^port \d+\n")
            port = int((begun["output"] + waited["output"]).split()[1])
            _, waited, _ = await client.call("wait", shell_id=shell_id, port=port)
            self.assertEqual(waited["reason"], "port")
            _, fields = await client.run(f'python3 -c "{reach.format(port)}"')
            self.assertEqual(fields["output"], "b'hello'\n")

    async def test_what_the_walls_deny_is_told(self):
        async with Client(self.home, folder=ROOT) as client:
            text, fields = await client.run("touch /etc/shellglass-was-here")
            self.assertNotEqual(fields["exit_code"], 0)
            self.assertTrue(fields["denials"], text)
            self.assertIn(fields["denials"][0], text)
            text, fields, is_error = await client.call(
                "execute_command", command="true", sandbox="none"
            )
            self.assertTrue(is_error)
            self.assertEqual(fields["status"], "permission_denied")
            self.assertIn("hint: ", text)


class Lines(unittest.TestCase):
    """Bare lines, as no SDK would send them."""

    def setUp(self):
        self.home = Home()
        self.server = subprocess.Popen(
            [BINARY, "mcp"],
            env=self.home.environment,
            cwd=self.home.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.home.log,
        )
        client = {"name": "lines", "version": "1"}
        self.ask(
            0,
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
        )
        self.send({"method": "notifications/initialized"})

    def tearDown(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(timeout=DEADLINE), 0)
        self.server.stdout.close()
        self.home.stop()

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, line):
        self.server.stdin.write(line)
        self.server.stdin.flush()

    def read(self):
        return json.loads(self.server.stdout.readline())

    def ask(self, number, method, params):
        self.send({"id": number, "method": method, "params": params})
        answer = self.read()
        self.assertEqual(answer["id"], number, answer)
        return answer

    def run_command(self, number, command, **arguments):
        arguments["command"] = command
        answer = self.ask(number, "tools/call", {"name": "execute_command", "arguments": arguments})
        return answer["result"]["structuredContent"]

    def test_lines_that_are_no_messages_have_an_error_and_the_next_is_read(self):
        for line, code, number in (
            (b"nonsense\n", -32700, None),
            (b'{"jsonrpc":"2.0","id":\n', -32700, None),
            (b"\xff\xfe\n", -32700, None),
            (b"[]\n", -32600, None),
            (b'{"id":4}\n', -32600, 4),
            (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":7}\n', -32602, 5),
            (b'{"jsonrpc":"2.0","id":6,"method":"no/such","params":{}}\n', -32601, 6),
        ):
            self.write(line)
            answer = self.read()
            self.assertEqual((answer["error"]["code"], answer.get("id")), (code, number), line)
        self.write(b"x" * (33 << 20) + b"\n")
        self.assertEqual(self.read()["error"]["code"], -32600)
        self.write(b'\n{"jsonrpc":"2.0","method":"notifications/unheard"}\r\n')
        self.assertEqual(self.run_command(7, "echo on")["output"], "on\n")

    def test_a_cancelled_call_is_not_answered(self):
        nap = "43.4242"
        params = {"name": "execute_command", "arguments": {"command": f"sleep {nap}"}}
        self.send({"id": 1, "method": "tools/call", "params": params})
        until(lambda: alive(nap))
        self.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
        until(lambda: not alive(nap))
        # The next answer is that of the next call.
        self.assertEqual(self.run_command(2, "echo next")["output"], "next\n")

    def test_calls_that_find_no_place_are_told_so_and_the_others_answered(self):
        # So many wait for the daemon and for their turn.
        places, more = 32 + 256, 12
        go = f"{self.home.home}/go"
        call = {"command": f"until test -e {go}; do sleep 0.02; done", "yield_ms": 50_000}
        for number in range(1, places + more + 1):
            params = {"name": "execute_command", "arguments": call}
            self.send({"id": number, "method": "tools/call", "params": params})
        for _ in range(more):
            refused = self.read()["result"]
            self.assertTrue(refused["isError"])
            self.assertIn("too many wait", refused["content"][0]["text"])
        Path(go).touch()
        codes = [self.read()["result"]["structuredContent"]["exit_code"] for _ in range(places)]
        self.assertEqual(codes, [0] * places)

    def test_a_client_that_leaves_ends_what_it_waited_for_and_nothing_else(self):
        foreground, background = "44.4242", "45.4242"
        begun = self.run_command(1, f"sleep {background}", background=True)
        params = {"name": "execute_command", "arguments": {"command": f"sleep {foreground}"}}
        self.send({"id": 2, "method": "tools/call", "params": params})
        until(lambda: alive(foreground) and alive(background))
        self.server.stdin.close()
        self.assertEqual(self.server.wait(timeout=DEADLINE), 0)
        until(lambda: not alive(foreground))
        self.assertTrue(alive(background))
        self.home.run("cancel", str(begun["shell_id"]))
        self.assertFalse(alive(background))

    def test_what_was_asked_before_the_end_of_input_is_answered(self):
        # It has half a second, and a daemon that has yet to start takes longer.
        self.run_command(0, "true")
        params = {"name": "execute_command", "arguments": {"command": "echo last"}}
        self.send({"id": 1, "method": "tools/call", "params": params})
        self.server.stdin.close()
        self.assertEqual(self.read()["result"]["structuredContent"]["output"], "last\n")



if __name__ == "__main__":
    unittest.main()
