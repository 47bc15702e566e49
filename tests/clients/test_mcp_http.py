"""The same over streamable HTTP, at the daemon's `/mcp`; and what is only there."""

import contextlib
import http.client
import itertools
import json
import socket
import threading
import unittest
from pathlib import Path
from urllib.parse import quote

import httpx2
import test_mcp
import test_mcp_people
from mcp.client.streamable_http import streamable_http_client

from agents import Client, Home, Person, alive
from daemon import DEADLINE, Daemon, until

# How long an answer may take: that of a whole call, and some more.
ANSWER_SECONDS = 120


class HttpHome(Home):
    """A daemon that listens on the same port all its lives."""

    def __init__(self, **settings):
        self.port = 0
        super().__init__(**settings)
        self.begin()

    def begin(self):
        """Starts the daemon."""
        self.flags = ("--listen", f"127.0.0.1:{self.port}")
        Daemon.start(self)
        self.port = int(self.ready.split("http://127.0.0.1:")[1].split("/")[0])

    def reap(self):
        """Waits for a daemon that was killed."""
        self.channel.close()
        self.process.wait(timeout=DEADLINE)
        self.process.stdout.close()

    def stop(self):
        self.channel.close()
        super().stop()
        self.process.wait(timeout=DEADLINE)
        self.process.stdout.close()


class HttpClient(Client):
    """One connection of the SDK's, over HTTP."""

    role = "agent"

    async def streams(self):
        headers = {"Authorization": f"Bearer {self.home.token(self.role)}"}
        made = httpx2.AsyncClient(headers=headers, timeout=ANSWER_SECONDS)
        made = await self.stack.enter_async_context(made)
        address = f"http://127.0.0.1:{self.home.port}/mcp?cwd={quote(self.folder)}"
        return await self.stack.enter_async_context(
            streamable_http_client(address, http_client=made)
        )


class PersonsClient(HttpClient):
    """One with a person's token."""

    role = "person"


class HttpMcp(test_mcp.Mcp):
    make = HttpHome

    def connect(self):
        return HttpClient(self.home)

    async def test_a_daemon_that_is_killed_is_started_and_nothing_is_lost(self):
        """Over HTTP nobody starts a daemon. The connection goes on with the next one."""
        async with self.connect() as client:
            _, before = await client.run("cd /usr; X=kept; echo before")
            wait = "echo one; until test -e on; do sleep 0.02; done; echo two; (exit 5)"
            _, begun = await client.run(f"cd {self.home.home}; {wait}", yield_ms=0)
            self.home.kill()
            self.home.reap()
            self.file("on").touch()
            self.home.begin()
            _, waited, _ = await client.call("wait", shell_id=begun["shell_id"])
            self.file("on").unlink()
            self.assertEqual((waited["reason"], waited["exit_code"]), ("exit", 5))
            _, read, _ = await client.call("read_output", shell_id=begun["shell_id"], offset=0)
            self.assertEqual(read["output"], "one\ntwo\n")
            # The warm shell is the same one.
            _, fields = await client.run("echo $X")
            self.assertEqual((fields["output"], fields["session_id"]), ("kept\n", before["session_id"]))

    async def test_a_persons_token_is_a_persons(self):
        created = self.home.run("session", "create", "--name", "a person's")
        mine = created.stdout.decode().strip()
        async with PersonsClient(self.home) as client:
            _, fields = await client.run("echo mine", session_id=mine)
            self.assertEqual(fields["output"], "mine\n")


class HttpApprovals(test_mcp_people.Approvals):
    make = staticmethod(lambda **settings: HttpHome(SHELLGLASS_APPROVALS_ELICIT="everybody", **settings))

    def connect(self, elicit=None):
        return HttpClient(self.home, elicit=elicit)


class AgentsAnswer(unittest.IsolatedAsyncioTestCase):
    """As it is unless somebody says otherwise."""

    @classmethod
    def setUpClass(cls):
        cls.home = HttpHome(SHELLGLASS_POLICY_AGENT="ask", SHELLGLASS_POLICY_PERSON="ask")

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    async def test_who_presents_an_agents_token_does_not_answer_for_a_person(self):
        person = Person("once")
        async with HttpClient(self.home, elicit=person) as client:
            text, fields, _ = await client.call(
                "execute_command", command="sh -c 'touch forged'", yield_ms=2000
            )
            self.assertEqual(fields["status"], "waiting_for_approval")
            self.assertIn("shellglass approvals approve", text)
        self.assertEqual(person.asked, [])
        self.assertFalse((Path(self.home.home) / "forged").exists())

    async def test_who_presents_a_persons_token_does(self):
        person = Person("once")
        async with PersonsClient(self.home, elicit=person) as client:
            _, fields = await client.run("sh -c 'echo mine'")
            self.assertEqual((fields["output"], len(person.asked)), ("mine\n", 1))


class Bare(unittest.TestCase):
    """Bare requests, as no SDK would send them."""

    @classmethod
    def setUpClass(cls):
        cls.home = HttpHome()

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    def send(self, method, body=None, role="agent", session=None, **headers):
        """A request, and its status, headers and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=ANSWER_SECONDS)
        headers = self.headers(role, session) | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        try:
            connection.request(method, "/mcp", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def headers(self, role, session):
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if role:
            headers["Authorization"] = f"Bearer {self.home.token(role)}"
        if session:
            headers["Mcp-Session-Id"] = session
        return headers

    def initialize(self, role="agent"):
        """A new connection's name."""
        client = {"name": "bare", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        status, headers, text = self.send("POST", message("initialize", params), role)
        self.assertEqual(status, 200, text)
        session = headers["Mcp-Session-Id"]
        told = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.assertEqual(self.send("POST", told, role, session)[0], 202)
        return session

    def run_command(self, session, command, role="agent", **arguments):
        params = {"name": "execute_command", "arguments": {"command": command, **arguments}}
        status, _, text = self.send("POST", message("tools/call", params), role, session)
        self.assertEqual(status, 200, text)
        return answered(text)["result"]["structuredContent"]

    def test_without_a_token_nothing_is_answered(self):
        body = message("tools/list", {})
        status, headers, _ = self.send("POST", body, role=None)
        self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
        self.assertEqual(self.send("POST", body, role=None, Authorization="Bearer wrong")[0], 401)
        self.assertEqual(self.send("GET", role=None)[0], 401)
        self.assertEqual(self.send("DELETE", role=None)[0], 401)

    def test_other_sites_are_turned_away(self):
        body = message("tools/list", {})
        for foreign in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": f"https://127.0.0.1:{self.home.port}"},
            {"Host": "evil.example"},
            {"Host": f"evil.example:{self.home.port}"},
        ):
            self.assertEqual(self.send("POST", body, **foreign)[0], 403, foreign)
            self.assertEqual(self.send("OPTIONS", **foreign)[0], 403, foreign)
        # A page of our own is none of them.
        own = {"Origin": f"http://127.0.0.1:{self.home.port}"}
        self.assertEqual(self.send("POST", body, **own)[0], 400)

    def test_a_connection_is_its_roles_alone(self):
        agents, persons = self.initialize("agent"), self.initialize("person")
        body = message("tools/list", {})
        for session, stranger in ((agents, "person"), (persons, "agent")):
            self.assertEqual(self.send("POST", body, stranger, session)[0], 404)
            self.assertEqual(self.send("GET", None, stranger, session)[0], 404)
            # Who may not use it may not end it, either.
            self.send("DELETE", None, stranger, session)
        self.assertEqual(self.send("POST", body, "agent", agents)[0], 200)
        self.assertEqual(self.send("POST", body, "person", persons)[0], 200)

    def test_who_has_not_begun_a_connection_runs_nothing(self):
        begun = self.initialize()
        self.run_command(begun, "true")
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2025-11-25",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        call = {"name": "execute_command", "arguments": {"command": "touch was-here"}}
        for session in (None, begun, begun[:13], "unknown"):
            body = message("tools/call", {**call, "_meta": meta})
            headers = {"MCP-Protocol-Version": "2025-11-25"}
            status, _, text = self.send("POST", body, "agent", session, **headers)
            refused = status >= 400 or "error" in answered(text)
            self.assertTrue(refused, (session, status, text))

    def test_what_makes_no_sense_is_refused_and_the_next_request_answered(self):
        session = self.initialize()
        for body in ("", "{", "[]", "5", "\0", '{"id":4}', "[" * 5000):
            status = self.send("POST", body, session=session)[0]
            self.assertIn(status, range(400, 500), body[:20])
        # It is heard by clients, too, that listen only when all was sent.
        for _ in range(10):
            self.assertEqual(self.send("POST", b" " * (20 << 20), session=session)[0], 413)
        listing = message("tools/list", {})
        for headers, status in (
            ({"Accept": "text/html"}, 406),
            ({"Content_Type": "text/plain"}, 415),
            ({"Mcp_Protocol_Version": "1066-10-14"}, 400),
        ):
            self.assertEqual(self.send("POST", listing, session=session, **headers)[0], status)
        self.assertEqual(self.send("POST", listing, session="0-0")[0], 404)
        self.assertEqual(self.send("POST", listing)[0], 400)
        self.assertEqual(self.send("PUT", listing, session=session)[0], 405)
        self.assertEqual(self.run_command(session, "echo on")["output"], "on\n")

    def begin_upload(self, role, sent):
        """A connection on which a request of 8 MiB does not come to its end."""
        connection = socket.create_connection(("127.0.0.1", self.home.port), DEADLINE)
        fields = self.headers(role, None) | {
            "Host": f"127.0.0.1:{self.home.port}",
            "Content-Length": str(8 << 20),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode())

        def send():
            # What finds no room is not read; the end of the test is the end of it.
            with contextlib.suppress(OSError):
                connection.sendall(sent)

        thread = threading.Thread(target=send)
        thread.start()
        return connection, thread

    def test_what_all_clients_send_is_bounded_and_who_waited_is_answered(self):
        session, listing = self.initialize(), message("tools/list", {})
        # A stranger takes no room.
        stranger, thread = self.begin_upload(None, b" ")
        self.assertIn(b" 401 ", stranger.recv(64))
        thread.join()
        stranger.close()
        uploads = [self.begin_upload("agent", b" " * ((8 << 20) - 1)) for _ in range(9)]
        try:
            # Each is answered until the room is full.
            for _ in range(100):
                asking = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=2)
                try:
                    asking.request("POST", "/mcp", listing, self.headers("agent", session))
                    self.assertEqual(asking.getresponse().status, 200)
                except TimeoutError:
                    break
                finally:
                    asking.close()
            else:
                self.fail("there is no end of room")
        finally:
            for connection, thread in uploads:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                thread.join()
                connection.close()
        self.assertEqual(self.send("POST", listing, session=session)[0], 200)

    def ask(self, session, method, params, role="agent"):
        """What is answered: a result or an error."""
        status, _, text = self.send("POST", message(method, params), role, session)
        self.assertEqual(status, 200, text)
        return answered(text)

    def test_an_agent_gets_nothing_of_a_persons_session(self):
        person, agent = self.initialize("person"), self.initialize("agent")
        secret, marker = "the-persons-own-words", Path(self.home.home) / "marker"
        own = self.run_command(person, f"echo {secret}", role="person")
        reads = f"read -r line; echo $line > {marker}"
        waits = self.run_command(person, reads, role="person", background=True)
        session, over, runs = own["session_id"], own["shell_id"], waits["shell_id"]
        for tool, arguments in (
            ("read_output", {"shell_id": over, "offset": 0}),
            ("read_output", {"shell_id": over, "search": "."}),
            ("wait", {"shell_id": over, "pattern": "own", "timeout_ms": 1}),
            ("wait", {"shell_id": runs, "exit": True, "timeout_ms": 1}),
            ("write_stdin", {"shell_id": runs, "chars": "agent\n"}),
            ("cancel", {"shell_id": runs}),
            ("cancel", {"session_id": session}),
            ("dispose_session", {"session_id": session}),
            ("execute_command", {"command": f"touch {marker}", "session_id": session}),
            ("execute_command", {"command": "true", "session_id": session, "yield_ms": 0}),
        ):
            result = self.ask(agent, "tools/call", {"name": tool, "arguments": arguments})["result"]
            fields = result.get("structuredContent") or {}
            refused = result.get("isError") or fields.get("cancelled") is False
            self.assertTrue(refused, (tool, arguments, result))
            self.assertNotIn(secret, json.dumps(result))
        listing = self.ask(agent, "tools/call", {"name": "list_sessions", "arguments": {}})
        self.assertNotIn(session, json.dumps(listing))
        self.assertNotIn(session, json.dumps(self.ask(agent, "resources/list", {})))
        for uri in (f"session/{session}", f"output/{over}", f"output/{runs}"):
            for method in ("resources/read", "resources/subscribe"):
                answer = self.ask(agent, method, {"uri": f"shellglass://{uri}"})
                self.assertIn("error", answer, (method, uri))
                self.assertNotIn(secret, json.dumps(answer))
        self.assertFalse(marker.exists())
        # Nothing of that has touched it.
        params = {"name": "write_stdin", "arguments": {"shell_id": runs, "chars": "mine\n"}}
        self.ask(person, "tools/call", params, "person")
        until(marker.exists)
        until(lambda: marker.read_text() == "mine\n")

    def test_a_client_that_watches_everything_is_told_when_it_is_enough(self):
        session, most = self.initialize(), 32
        enough = Path(self.home.home) / "enough"
        waits = f"until test -e {enough}; do sleep 0.2; done"
        begin = lambda: self.run_command(session, waits, background=True, yield_ms=0)
        uris = [{"uri": f"shellglass://output/{begin()['shell_id']}"} for _ in range(most + 1)]
        for uri in uris[:most]:
            self.assertNotIn("error", self.ask(session, "resources/subscribe", uri))
        refused = self.ask(session, "resources/subscribe", uris[most])["error"]["message"]
        self.assertIn("unsubscribe", refused)
        self.assertNotIn("error", self.ask(session, "resources/subscribe", uris[0]))
        self.assertNotIn("error", self.ask(session, "resources/unsubscribe", uris[1]))
        self.assertNotIn("error", self.ask(session, "resources/subscribe", uris[most]))
        self.assertIn("error", self.ask(session, "resources/subscribe", uris[1]))
        # What has ended takes no place.
        enough.touch()
        until(lambda: "error" not in self.ask(session, "resources/subscribe", uris[1]))

    def test_a_client_that_disappears_loses_nothing(self):
        session, folder = self.initialize(), self.home.home
        command = f"until test -e {folder}/back; do sleep 0.02; done; touch {folder}/done"
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=DEADLINE)
        params = {"name": "execute_command", "arguments": {"command": command}}
        connection.request(
            "POST", "/mcp", message("tools/call", params), self.headers("agent", session)
        )
        self.assertEqual(connection.getresponse().status, 200)
        until(self.busy)
        connection.close()
        Path(folder, "back").touch()
        until(Path(folder, "done").exists)
        # The connection is as it was.
        self.assertEqual(self.run_command(session, "echo on")["output"], "on\n")

    def busy(self):
        listed = json.loads(self.home.run("session", "list", "--json").stdout)
        return any(session["running"] for session in listed["sessions"])

    def test_who_says_goodbye_ends_what_was_waited_for_and_nothing_else(self):
        session = self.initialize()
        foreground, background = "46.4242", "47.4242"
        begun = self.run_command(session, f"sleep {background}", background=True)
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=DEADLINE)
        params = {"name": "execute_command", "arguments": {"command": f"sleep {foreground}", "yield_ms": 50_000}}
        connection.request(
            "POST", "/mcp", message("tools/call", params), self.headers("agent", session)
        )
        until(lambda: alive(foreground) and alive(background))
        self.assertEqual(self.send("DELETE", session=session)[0], 204)
        until(lambda: not alive(foreground))
        connection.close()
        self.assertTrue(alive(background))
        self.home.run("cancel", str(begun["shell_id"]))
        self.assertFalse(alive(background))
        self.assertEqual(self.send("POST", message("tools/list", {}), session=session)[0], 404)

    def test_a_directory_that_is_not_there_is_named(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=DEADLINE)
        session = self.initialize()
        params = {"name": "execute_command", "arguments": {"command": "pwd"}}
        headers = self.headers("agent", session)
        connection.request("POST", "/mcp?cwd=/no/such", message("tools/call", params), headers)
        answer = answered(connection.getresponse().read().decode())["result"]
        connection.close()
        self.assertTrue(answer["isError"])
        self.assertIn("/no/such", answer["content"][0]["text"])


# No two requests have the same number: answers are known by it.
NUMBERS = itertools.count(1)


def message(method, params):
    """A request, as text."""
    number = next(NUMBERS)
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def answered(text):
    """The answer at the end of a stream of events."""
    lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return json.loads([line for line in lines if line][-1])


if __name__ == "__main__":
    unittest.main()
