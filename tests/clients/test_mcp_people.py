"""MCP where a person has to be asked, by clients that can and cannot."""

import asyncio
import json
import shlex
import subprocess
import sys
import unittest
from pathlib import Path

from mcp import Client as NewestClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from agents import Client, Home, Person
from daemon import BINARY, DEADLINE, until


class Approvals(unittest.IsolatedAsyncioTestCase):
    """Where a person is asked."""

    make = Home

    @classmethod
    def setUpClass(cls):
        cls.home = cls.make(SHELLGLASS_POLICY_AGENT="ask")

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    def connect(self, elicit=None):
        """A client, and what it does with questions to its person."""
        return Client(self.home, elicit=elicit)

    def waits(self, number):
        """Whether a person is still asked."""
        return number in self.home.run("approvals", "list").stdout.decode()

    async def asked(self, client, command):
        text, fields, is_error = await client.call("execute_command", command=command, yield_ms=2000)
        self.assertFalse(is_error, text)
        self.assertEqual((fields["status"], fields["shell_id"]), ("waiting_for_approval", None))
        self.assertIn(f"`shellglass approvals approve {fields['approval_id']}`", text)
        self.assertIn(fields["reason"], text)
        return fields["approval_id"]

    async def test_what_a_person_approves_runs_once(self):
        async with self.connect() as client:
            _, fields = await client.run("echo harmless")
            self.assertEqual(fields["output"], "harmless\n")
            command = "sh -c 'echo x >>approved; cat approved'"
            number = await self.asked(client, command)
            # What comes after it waits behind it, and says so.
            text, fields, _ = await client.call("execute_command", command="echo 2", yield_ms=2000)
            self.assertEqual(fields["status"], "queued")
            self.assertIn(number, text)
            self.assertEqual(await self.asked(client, command), number)
            call = asyncio.create_task(client.run(command))
            self.assertEqual(self.home.run("approvals", "approve", number).returncode, 0)
            _, fields = await call
            self.assertEqual((fields["status"], fields["output"]), ("exited", "x\n"))
            _, fields = await client.run("echo 2")
            self.assertEqual(fields["output"], "2\n")

    async def test_what_a_person_denies_is_an_error_with_the_reason(self):
        async with self.connect() as client:
            number = await self.asked(client, "sh -c 'touch denied'")
            self.home.run("approvals", "deny", number, "--reason", "not today")
            text, fields, is_error = await client.call(
                "execute_command", command="sh -c 'touch denied'"
            )
            self.assertTrue(is_error)
            self.assertEqual(fields["status"], "rejected")
            self.assertIn("not today", text)
        self.assertFalse((Path(self.home.home) / "denied").exists())

    async def test_what_is_dangerous_is_refused(self):
        async with self.connect() as client:
            text, fields, is_error = await client.call("execute_command", command="rm -rf /")
            self.assertTrue(is_error)
            self.assertEqual((fields["status"], fields["exit_code"]), ("rejected", None))
            self.assertIn("hint: ", text)

    async def test_a_client_that_leaves_withdraws_its_questions(self):
        async with self.connect() as client:
            number = await self.asked(client, "sh -c 'touch left'")
        await asyncio.to_thread(until, lambda: not self.waits(number))

    async def test_a_person_is_asked_through_the_client_and_the_answer_counts(self):
        person = Person("once", "session", "refuse")
        async with self.connect(person) as client:
            _, fields = await client.run("sh -c 'echo 1'")
            self.assertEqual((fields["status"], fields["output"]), ("exited", "1\n"))
            self.assertIn("  | sh -c 'echo 1'", person.asked[0].message)
            self.assertIn("no rule allows it", person.asked[0].message)
            # Once is once.
            _, fields = await client.run("sh -c 'echo 2'")
            self.assertEqual((fields["output"], len(person.asked)), ("2\n", 2))
            # It was allowed for the session, word for word.
            _, fields = await client.run("sh -c 'echo 2'")
            self.assertEqual((fields["output"], len(person.asked)), ("2\n", 2))
            text, fields, is_error = await client.call("execute_command", command="sh -c 'echo 3'")
            self.assertEqual((is_error, fields["status"]), (True, "rejected"))
            self.assertIn("refused through mcp", text)
        # Who looks later finds out by which way the word came.
        audit = self.home.run("audit", "--json").stdout.decode()
        self.assertIn("refused through mcp", audit)
        self.assertIn('"through mcp"', audit)

    async def test_a_question_that_is_put_away_waits_for_a_person(self):
        person = Person("cancel", "decline")
        command = "sh -c 'echo away'"
        async with self.connect(person) as client:
            text, fields, _ = await client.call("execute_command", command=command)
            self.assertEqual(fields["status"], "waiting_for_approval")
            self.assertIn("shellglass approvals approve", text)
            # Asked again, as it was put away and not answered.
            text, fields, is_error = await client.call("execute_command", command=command)
            self.assertEqual((is_error, fields["status"]), (True, "rejected"))

    async def test_a_question_that_is_answered_elsewhere_is_taken_back(self):
        person = Person()
        async with self.connect(person) as client:
            call = asyncio.create_task(client.run("sh -c 'echo elsewhere'"))
            await asyncio.wait_for(person.is_asked.wait(), DEADLINE)
            listed = json.loads(self.home.run("approvals", "--json").stdout)["approvals"]
            self.home.run("approvals", "approve", listed[0]["approvalId"])
            _, fields = await call
            self.assertEqual(fields["output"], "elsewhere\n")
            await asyncio.wait_for(person.is_taken_back.wait(), DEADLINE)

    async def test_a_question_outlives_the_call_that_asked_it(self):
        person = Person()
        async with self.connect(person) as client:
            command = "sh -c 'echo late'"
            text, fields, _ = await client.call("execute_command", command=command, yield_ms=2000)
            self.assertEqual(fields["status"], "waiting_for_approval")
            await asyncio.wait_for(person.is_asked.wait(), DEADLINE)
            person.answers.put_nowait("once")
            _, fields = await client.run(command)
            self.assertEqual((fields["output"], len(person.asked)), ("late\n", 1))


# A client that answers every question with a yes, as a hostile command would be one.
FORGER = """
import json, subprocess, sys
server = subprocess.Popen([sys.argv[1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    server.stdin.flush()
def answer(number):
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "elicitation/create":
            print("asked", flush=True)
            yes = {"action": "accept", "content": {"decision": "once"}}
            send(id=message["id"], result=yes)
        elif message.get("id") == number:
            return message
about = {"name": "forger", "version": "1"}
hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": about}
send(id=1, method="initialize", params=hello)
answer(1)
send(method="notifications/initialized")
call = {"name": "execute_command", "arguments": {"command": "sh -c 'touch forged'"}}
send(id=2, method="tools/call", params=call)
print(answer(2)["result"]["content"][0]["text"])
server.stdin.close()
server.wait()
"""


class Inside(unittest.TestCase):
    """A client that runs inside a session, where everybody is an agent."""

    def test_its_answer_does_not_count(self):
        home = Home(SHELLGLASS_POLICY_AGENT="ask", SHELLGLASS_APPROVALS_ELICIT="everybody")
        self.addCleanup(home.stop)
        script = Path(home.home) / "forger.py"
        script.write_text(FORGER)
        words = ["env", f"SHELLGLASS_HOME={home.home}", sys.executable, str(script), BINARY]
        forged = home.run("run", shlex.join(words), cwd=home.home)
        said = forged.stdout.decode()
        self.assertIn("asked", said, forged)
        self.assertIn("does not count", said)
        self.assertFalse((Path(home.home) / "forged").exists())


class Newest(unittest.IsolatedAsyncioTestCase):
    """The newest revision, which has no introductions and no questions of a server's own."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home(SHELLGLASS_POLICY_AGENT="ask")

    @classmethod
    def tearDownClass(cls):
        cls.home.stop()

    def connect(self, person):
        server = StdioServerParameters(
            command=BINARY, args=["mcp"], env=self.home.environment, cwd=self.home.home
        )
        return NewestClient(stdio_client(server), elicitation_callback=person)

    async def run_in(self, client, command, **arguments):
        arguments = {"command": command, **arguments}
        result = await asyncio.wait_for(client.call_tool("execute_command", arguments), DEADLINE * 2)
        return result.content[0].text, result.structured_content

    async def test_a_person_is_asked_through_the_client_and_the_answer_counts(self):
        person = Person("once", "refuse", "cancel")
        async with self.connect(person) as client:
            self.assertGreaterEqual(client.session.protocol_version, "2026-07-28")
            _, fields = await self.run_in(client, "sh -c 'echo x >>newest; cat newest'")
            self.assertEqual((fields["status"], fields["output"]), ("exited", "x\n"))
            self.assertIn("  | sh -c 'echo x >>newest; cat newest'", person.asked[0].message)
            text, fields = await self.run_in(client, "sh -c 'echo 2'")
            self.assertEqual(fields["status"], "rejected")
            self.assertIn("refused through", text)
            text, fields = await self.run_in(client, "sh -c 'echo 3'")
            self.assertEqual(fields["status"], "waiting_for_approval")
            self.assertIn("shellglass approvals approve", text)
            self.assertEqual(len(person.asked), 3)

    async def test_who_listens_is_told_what_is_new(self):
        async with self.connect(None) as client:
            _, first = await self.run_in(client, "pwd")
            uri = f"shellglass://session/{first['session_id']}"
            async with client.listen(resource_subscriptions=[uri, "file:///etc/passwd"]) as news:
                self.assertEqual(news.honored.resource_subscriptions, [uri])
                # Once because it listens from now on, and then what is new.
                for command in ("pwd", "echo new"):
                    await self.run_in(client, command)
                    event = await asyncio.wait_for(anext(news), DEADLINE)
                    self.assertEqual(event.uri, uri)
            read = await client.read_resource(uri)
            self.assertIn("echo new", read.contents[0].text)

    async def test_a_connection_has_one_session(self):
        async with self.connect(None) as client:
            _, first = await self.run_in(client, "pwd")
            _, second = await self.run_in(client, "pwd")
            self.assertEqual(first["output"], f"{self.home.home}\n")
            self.assertEqual(first["session_id"], second["session_id"])


if __name__ == "__main__":
    unittest.main()
