"""A day of work, over the Unix socket and over TCP: the same calls, the same answers."""

import os
import unittest
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from daemon import DEADLINE, Daemon, TcpDaemon, agent, until, wire


def exact(output):
    """The bytes that a piece of output stands for."""
    return output.raw if output.HasField("raw") else output.data.encode()


def stdout_of(events):
    """The exact standard output in a list of events."""
    return b"".join(exact(event.stdout) for event in events if event.HasField("stdout"))


class Day:
    """What both ways in have in common."""

    make = None

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.make()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    @property
    def shells(self):
        return self.daemon.shells

    def session(self, **fields):
        fields = {"working_directory": self.daemon.home, "shell": "bash", "startup": "none"} | fields
        return self.shells.CreateSession(wire.CreateSessionRequest(**fields)).session_id

    def request(self, session, command, **fields):
        args = agent.ShellArgs(command=command, **fields)
        return wire.ExecuteRequest(session_id=session, args=args)

    def run_in(self, session, command, **fields):
        return self.shells.Run(self.request(session, command, **fields), timeout=DEADLINE)

    def file(self, name):
        return Path(self.daemon.home) / name

    def test_a_session_lives_and_is_remembered(self):
        session = self.session(name="day", task_id="task")
        self.run_in(session, "cd /usr; export X=1")
        self.assertEqual(self.run_in(session, "pwd; echo $X").success.stdout, "/usr\n1\n")
        shown = self.shells.GetSession(wire.SessionRef(session_id=session))
        self.assertEqual((shown.name, shown.task_id), ("day", "task"))
        self.assertEqual((shown.working_directory, shown.last_exit_code), ("/usr", 0))
        self.assertEqual(shown.last_command, "pwd; echo $X")
        listed = self.shells.ListSessions(wire.ListSessionsRequest()).sessions
        self.assertIn(session, [each.session_id for each in listed])
        self.shells.DisposeSession(wire.SessionRef(session_id=session))
        with self.assertRaises(grpc.RpcError) as caught:
            self.run_in(session, "true")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        history = self.shells.GetSessionHistory(wire.HistoryRequest(session_id=session))
        self.assertEqual(len(history.executions), 2)
        self.assertTrue(history.events[-1].HasField("disposed"))

    def test_a_stream_has_every_byte(self):
        session = self.session()
        stream = self.shells.Execute(self.request(session, "head -c 3000000 /dev/urandom | tee it"))
        events = list(stream)
        self.assertTrue(events[0].HasField("start"))
        self.assertEqual(events[0].start.session_id, session)
        self.assertEqual(stdout_of(events), self.file("it").read_bytes())
        self.assertEqual((events[-1].exit.code, events[-1].exit.cwd), (0, self.daemon.home))

    def test_long_output_is_in_a_file(self):
        result = self.run_in(self.session(), "seq 100000", file_output_threshold_bytes=1000).success
        whole = "".join(f"{number}\n" for number in range(1, 100001))
        self.assertLess(len(result.stdout), 1100)
        self.assertTrue(result.stdout.startswith("1\n2\n") and result.stdout.endswith("100000\n"))
        location = result.output_location
        self.assertEqual(Path(location.file_path).read_text(), whole)
        self.assertEqual((location.size_bytes, location.line_count), (len(whole), 100000))

    def test_a_call_is_one_execution(self):
        session = self.session()
        fields = {"tool_call_id": f"call-{type(self).__name__}"}
        first = self.run_in(session, "echo x >>ran; cat ran", **fields)
        second = self.run_in(session, "echo x >>ran; cat ran", **fields)
        self.assertEqual(first, second)
        self.assertEqual(first.success.stdout, "x\n")
        with self.assertRaises(grpc.RpcError) as caught:
            self.run_in(session, "echo other", **fields)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.ALREADY_EXISTS)

    def test_cancel_ends_everything(self):
        session = self.session()
        stream = self.shells.Execute(self.request(session, "setsid sleep 1000 & sleep 1000"))
        self.assertTrue(next(stream).HasField("start"))
        answer = self.shells.Cancel(wire.CancelRequest(session_id=session), timeout=DEADLINE)
        self.assertTrue(answer.cancelled)
        self.assertTrue(list(stream)[-1].exit.aborted)
        again = self.shells.Cancel(wire.CancelRequest(session_id=session), timeout=DEADLINE)
        self.assertFalse(again.cancelled)
        self.assertEqual(self.run_in(session, "echo on").success.stdout, "on\n")

    def test_a_queued_call_can_be_cancelled_by_its_key(self):
        session = self.session()
        running = self.shells.Execute(self.request(session, "sleep 1000"))
        next(running)
        key = f"queued-{type(self).__name__}"
        waiting = self.shells.Execute(self.request(session, "touch never", tool_call_id=key))
        # The call is accepted when its first metadata arrives.
        waiting.initial_metadata()
        answer = self.shells.Cancel(wire.CancelRequest(tool_call_id=key), timeout=DEADLINE)
        self.assertTrue(answer.cancelled)
        self.assertTrue(list(waiting)[-1].exit.aborted)
        self.shells.Cancel(wire.CancelRequest(session_id=session), timeout=DEADLINE)
        self.assertFalse(self.file("never").exists())

    def test_output_is_read_while_the_command_runs(self):
        session = self.session()
        command = "echo early; until test -e go; do sleep 0.01; done; echo late; exit 4"
        stream = self.shells.Execute(self.request(session, command))
        shell_id = next(stream).start.shell_id
        read = lambda: self.shells.ReadOutput(
            wire.ReadOutputRequest(shell_id=shell_id, wait_ms=20000), timeout=DEADLINE
        )
        self.assertEqual(read().output, "early\n")
        self.file("go").touch()
        self.assertEqual(read().output, "late\n")
        list(stream)
        os.unlink(self.file("go"))
        last = read()
        self.assertEqual((last.running, last.exit_code), (False, 4))

    def test_a_watcher_misses_nothing_when_the_daemon_is_lost(self):
        session = self.session()
        command = "echo before; until test -e on; do sleep 0.01; done; echo after"
        request = self.request(session, command, tool_call_id=f"lost-{type(self).__name__}")
        self.shells.Execute(request).initial_metadata()
        events = []
        for event in self.shells.Subscribe(wire.SubscribeRequest(session_id=session)):
            events.append(event)
            if stdout_of(events) == b"before\n":
                break
        self.daemon.restart()
        self.file("on").touch()
        result = self.shells.Run(request, timeout=DEADLINE)
        self.assertEqual(result.success.stdout, "before\nafter\n")
        os.unlink(self.file("on"))
        later = wire.SubscribeRequest(session_id=session, from_index=events[-1].index + 1)
        for event in self.shells.Subscribe(later, timeout=DEADLINE):
            events.append(event)
            if event.HasField("exit"):
                break
        self.assertEqual([event.index for event in events], list(range(len(events))))
        self.assertEqual(stdout_of(events), b"before\nafter\n")
        history = self.shells.GetSessionHistory(wire.HistoryRequest(session_id=session))
        self.assertEqual(list(history.events)[: len(events)], events)

    def test_a_session_for_one_command_is_gone_with_it(self):
        spec = wire.CreateSessionRequest(
            working_directory="/usr", env={"PATH": os.environ["PATH"], "MINE": "1"}, shell="bash"
        )
        args = agent.ShellArgs(command="pwd; echo $MINE$HOME")
        result = self.shells.Run(wire.ExecuteRequest(args=args, ephemeral=spec), timeout=DEADLINE)
        self.assertEqual(result.success.stdout, "/usr\n1\n")
        listed = self.shells.ListSessions(wire.ListSessionsRequest()).sessions
        self.assertNotIn("/usr", [each.working_directory for each in listed])

    def test_capabilities_are_told_and_watched(self):
        told = self.shells.GetCapabilities(wire.Empty(), timeout=DEADLINE)
        self.assertTrue(any(shell.endswith("/bash") for shell in told.shells))
        self.assertEqual(list(told.hosts), ["local"])
        stream = self.shells.WatchCapabilities(wire.Empty())
        self.assertEqual(next(stream), told)
        stream.cancel()

    def test_health_is_served(self):
        health = health_pb2_grpc.HealthStub(self.daemon.channel)
        for name in ("", "shellglass.v1.ShellExec"):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=DEADLINE)
            self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING)

    def test_reflection_describes_the_whole_contract(self):
        described = ProtoReflectionDescriptorDatabase(self.daemon.channel)
        self.assertIn("shellglass.v1.ShellExec", described.get_services())
        for name in ("shellglass.v1.ExecuteRequest", "agent.v1.ShellResult"):
            file = described.FindFileContainingSymbol(name)
            self.assertIn(name.split(".")[-1], [message.name for message in file.message_type])


class UnixDay(Day, unittest.TestCase):
    make = Daemon


class TcpDay(Day, unittest.TestCase):
    make = TcpDaemon

    def test_without_a_token_nothing_is_answered(self):
        from daemon import service

        bare = service.ShellExecStub(self.daemon.bare)
        with self.assertRaises(grpc.RpcError) as caught:
            bare.ListSessions(wire.ListSessionsRequest(), timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        metadata = [("authorization", "Bearer wrong")]
        with self.assertRaises(grpc.RpcError) as caught:
            bare.ListSessions(wire.ListSessionsRequest(), timeout=DEADLINE, metadata=metadata)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        until(lambda: self.shells.ListSessions(wire.ListSessionsRequest()) is not None)


if __name__ == "__main__":
    unittest.main()
