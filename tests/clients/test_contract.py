"""The service as a client sees it that nobody here wrote: Python's grpcio."""

import threading
import unittest

import grpc

from daemon import DEADLINE, Daemon, agent, until, wire


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.shells = cls.daemon.shells

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def session(self, **fields):
        fields = {"working_directory": "/tmp", "shell": "bash", "startup": "none", **fields}
        return self.shells.CreateSession(wire.CreateSessionRequest(**fields)).session_id

    def request(self, session, command, **fields):
        args = agent.ShellArgs(command=command, **fields)
        return wire.ExecuteRequest(session_id=session, args=args)

    def run_in(self, session, command, **fields):
        return self.shells.Run(self.request(session, command, **fields), timeout=DEADLINE)

    def check_status(self, code, call, message):
        with self.assertRaises(grpc.RpcError) as caught:
            call(message, timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        metadata = dict(caught.exception.trailing_metadata() or ())
        self.assertIn("shellglass-hint", metadata)

    def test_a_result_has_streams_and_code(self):
        for mode in (wire.SESSION_MODE_PIPE, wire.SESSION_MODE_LINE):
            session = self.session(mode=mode)
            failure = self.run_in(session, "echo out; echo err >&2; exit 3").failure
            self.assertEqual((failure.stdout, failure.stderr), ("out\n", "err\n"))
            self.assertEqual(failure.exit_code, 3)
            success = self.run_in(session, "echo $((6 * 7))").success
            self.assertEqual(success.stdout, "42\n")

    def test_state_persists_in_a_warm_shell(self):
        session = self.session(mode=wire.SESSION_MODE_PIPE)
        self.run_in(session, "cd /; X=1; f() { echo f$X; }")
        self.assertEqual(self.run_in(session, "pwd; f").success.stdout, "/\nf1\n")

    def test_a_stream_has_one_start_and_one_end(self):
        session = self.session()
        events = list(self.shells.Execute(self.request(session, "echo hi; exit 4")))
        kinds = [event.WhichOneof("event") for event in events]
        self.assertEqual(kinds[0], "start")
        self.assertEqual(kinds.count("start"), 1)
        self.assertEqual(kinds[-1], "exit")
        self.assertEqual(kinds.count("exit"), 1)
        self.assertEqual(events[-1].exit.code, 4)
        self.assertEqual("".join(event.stdout.data for event in events), "hi\n")

    def test_exact_bytes_travel_where_text_cannot_carry_them(self):
        session = self.session()
        request = self.request(session, "printf 'a\\377b'")
        events = self.shells.Execute(request, timeout=DEADLINE)
        outputs = [event.stdout for event in events if event.HasField("stdout")]
        exact = b"".join(o.raw if o.HasField("raw") else o.data.encode() for o in outputs)
        self.assertEqual(exact, b"a\xffb")

    def test_cancel_answers_when_nothing_is_left(self):
        session = self.session()
        stream = self.shells.Execute(self.request(session, "sleep 1000; echo next"))
        start = next(stream).start
        answer = self.shells.Cancel(wire.CancelRequest(shell_id=start.shell_id), timeout=DEADLINE)
        self.assertTrue(answer.cancelled)
        rest = list(stream)
        self.assertTrue(rest[-1].exit.aborted)
        self.assertEqual(rest[-1].exit.abort_reason, agent.SHELL_ABORT_REASON_USER_ABORT)
        self.assertNotIn("next", "".join(event.stdout.data for event in rest))

    def test_a_timeout_is_a_result_of_its_own(self):
        result = self.run_in(self.session(), "echo before; sleep 1000", timeout=300)
        self.assertEqual(result.WhichOneof("result"), "timeout")
        self.assertEqual(result.timeout.stdout, "before\n")

    def test_the_same_call_runs_once(self):
        session = self.session()
        request = self.request(session, "echo x >>once; cat once; rm once", tool_call_id="k-1")
        results = []
        call = lambda: results.append(self.shells.Run(request, timeout=DEADLINE))
        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([result.success.stdout for result in results], ["x\n"] * 4)

    def test_executes_queue_in_order(self):
        session = self.session()
        slow = self.shells.Run.future(self.request(session, "sleep 0.3; echo 1"))
        until(lambda: self.shells.GetSession(wire.SessionRef(session_id=session)).running)
        self.assertEqual(self.run_in(session, "echo 2").success.stdout, "2\n")
        self.assertTrue(slow.done() or slow.result(timeout=DEADLINE))

    def test_history_and_subscription_have_no_gap(self):
        session = self.session()
        for number in range(3):
            self.run_in(session, f"echo {number}")
        history = self.shells.GetSessionHistory(wire.HistoryRequest(session_id=session))
        indexes = [event.index for event in history.events]
        self.assertEqual(indexes, list(range(len(indexes))))
        self.assertEqual([e.command for e in history.executions], ["echo 0", "echo 1", "echo 2"])
        stream = self.shells.Subscribe(wire.SubscribeRequest(session_id=session))
        replayed = [next(stream) for _ in indexes]
        self.assertEqual([event.index for event in replayed], indexes)
        self.run_in(session, "echo live")
        self.assertEqual(next(stream).index, len(indexes))
        stream.cancel()

    def test_what_is_found_fits_a_client_whatever_the_commands_have(self):
        session = self.session()
        for number in range(5):
            command = f"true needle-{number} {'x' * (1 << 20)}"
            self.assertTrue(self.run_in(session, command).HasField("success"))
        request = wire.SearchRequest(text="NEEDLE-", session_id=session)
        found = self.shells.Search(request, timeout=DEADLINE)
        self.assertEqual([it.in_command.text for it in found.results], ["needle-"] * 5)
        for it in found.results:
            self.assertTrue(it.execution.command_cut)
            self.assertTrue(it.execution.command.startswith("true needle-"))
            whole = wire.HistoryRequest(session_id=session, omit_events=True, shell_id=it.execution.shell_id)
            [execution] = self.shells.GetSessionHistory(whole, timeout=DEADLINE).executions
            self.assertGreater(len(execution.command), 1 << 20)

    def test_output_is_read_from_an_offset(self):
        session = self.session()
        shell_id = self.run_in(session, "printf 0123456789").success.shell_id
        request = wire.ReadOutputRequest(shell_id=shell_id, offset=4, max_bytes=3)
        answer = self.shells.ReadOutput(request)
        self.assertEqual((answer.output, answer.next_offset), ("456", 7))
        self.assertFalse(answer.running)

    def test_mistakes_have_a_status_and_a_hint(self):
        unknown = self.request("s-aaaaaaaaaaaaaaaa", "true")
        self.check_status(grpc.StatusCode.NOT_FOUND, self.shells.Run, unknown)
        session = self.session()
        self.shells.DisposeSession(wire.SessionRef(session_id=session))
        disposed = self.request(session, "true")
        self.check_status(grpc.StatusCode.FAILED_PRECONDITION, self.shells.Run, disposed)
        nul = self.request(self.session(), "echo \0")
        self.check_status(grpc.StatusCode.INVALID_ARGUMENT, self.shells.Run, nul)

    def test_health_is_served(self):
        check = self.daemon.channel.unary_unary("/grpc.health.v1.Health/Check")
        # An empty request asks for the whole; field 1 is the status, 1 is SERVING.
        self.assertEqual(check(b"", timeout=DEADLINE), b"\x08\x01")

    def test_reflection_names_the_service(self):
        reflect = self.daemon.channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        )
        # Field 7 of the request, empty, asks for the list of services.
        answer = next(reflect(iter([b"\x3a\x00"]), timeout=DEADLINE))
        self.assertIn(b"shellglass.v1.ShellExec", answer)

    def test_the_command_line_uses_the_same_daemon(self):
        session = self.session()
        self.run_in(session, "cd /usr")
        ran = self.daemon.run("run", "--session", session, "pwd; exit 9")
        self.assertEqual((ran.stdout, ran.returncode), (b"/usr\n", 9))


if __name__ == "__main__":
    unittest.main()
