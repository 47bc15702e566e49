"""The daemon's numbers, as a collector made of OpenTelemetry's own messages hears them."""

import os
import threading
import time
import unittest
from concurrent import futures

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as collector
from opentelemetry.proto.metrics.v1 import metrics_pb2

from daemon import DEADLINE, Daemon, agent, wire

SERVICE = "opentelemetry.proto.collector.metrics.v1.MetricsService"


class Collector:
    """Keeps the newest numbers that it was told."""

    def __init__(self):
        self.changed = threading.Condition()
        self.metrics = {}
        self.resource = {}
        handler = grpc.unary_unary_rpc_method_handler(
            self.export,
            request_deserializer=collector.ExportMetricsServiceRequest.FromString,
            response_serializer=collector.ExportMetricsServiceResponse.SerializeToString,
        )
        self.server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
        methods = grpc.method_handlers_generic_handler(SERVICE, {"Export": handler})
        self.server.add_generic_rpc_handlers((methods,))
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def export(self, request, _):
        with self.changed:
            for part in request.resource_metrics:
                pairs = part.resource.attributes
                self.resource = {pair.key: pair.value.string_value for pair in pairs}
                for scope in part.scope_metrics:
                    self.metrics = {metric.name: metric for metric in scope.metrics}
            self.changed.notify_all()
        return collector.ExportMetricsServiceResponse()

    def wait_for(self, condition):
        """Waits until what was told last fulfils a condition."""
        end = time.monotonic() + DEADLINE
        with self.changed:
            while not (self.metrics and condition(self.metrics)):
                if not self.changed.wait(end - time.monotonic()):
                    raise AssertionError(f"never told: {self.metrics}")
            return self.metrics


def sums(metric):
    """A counter's values by their only attribute."""
    points = metric.sum.data_points
    return {tuple(a.value.string_value for a in point.attributes): point.as_int for point in points}


class Otlp(unittest.TestCase):
    def setUp(self):
        self.binary = os.environ.get("SHELLGLASS_WEAK_BIN")
        if not self.binary:
            self.fail("SHELLGLASS_WEAK_BIN names no build with the feature `otlp`: make weak")

    def start(self, endpoint):
        kind = type("Built", (Daemon,), {"binary": self.binary})
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_METRIC_EXPORT_INTERVAL": "100",
        }
        daemon = kind("--listen", "none", variables=variables)
        self.addCleanup(daemon.stop)
        return daemon

    def run_command(self, daemon, command):
        request = wire.ExecuteRequest(args=agent.ShellArgs(command=command))
        return daemon.shells.Run(request, timeout=DEADLINE).WhichOneof("result")

    def test_a_collector_is_told_what_happened(self):
        listening = Collector()
        self.addCleanup(listening.server.stop, None)
        daemon = self.start(f"http://127.0.0.1:{listening.port}")
        self.assertEqual(self.run_command(daemon, "echo secret-word"), "success")
        self.assertEqual(self.run_command(daemon, "exit 3"), "failure")
        ended = "shellglass.executions_ended"
        metrics = listening.wait_for(lambda told: sum(sums(told[ended]).values()) == 2)
        self.assertEqual(sums(metrics[ended])[("success",)], 1)
        self.assertEqual(sums(metrics[ended])[("failure",)], 1)
        self.assertTrue(metrics[ended].sum.is_monotonic)
        cumulative = metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE
        self.assertEqual(metrics[ended].sum.aggregation_temporality, cumulative)
        took = metrics["shellglass.execution_duration"]
        self.assertEqual(took.unit, "s")
        [point] = took.histogram.data_points
        self.assertEqual(point.count, 2)
        self.assertEqual(sum(point.bucket_counts), 2)
        self.assertEqual(len(point.bucket_counts), len(point.explicit_bounds) + 1)
        self.assertGreater(point.time_unix_nano, point.start_time_unix_nano)
        self.assertEqual(listening.resource["service.name"], "shellglass")
        busy = "shellglass.sessions_busy"
        listening.wait_for(lambda told: told[busy].gauge.data_points[0].as_int == 0)
        self.assertNotIn("secret-word", str(metrics), "numbers, and no text of a command")

    def test_a_collector_that_is_not_there_is_missed_by_nobody(self):
        # Nobody listens at a port that was given back.
        gone = Collector()
        gone.server.stop(None).wait()
        daemon = self.start(f"http://127.0.0.1:{gone.port}")
        for number in range(3):
            self.assertEqual(self.run_command(daemon, f"echo {number}"), "success")

    def test_an_address_that_cannot_be_used_is_warned_of_and_keeps_nobody_from_work(self):
        # The variable is for all programs, and others speak TLS.
        for endpoint in ("collector.example:4317", "https://127.0.0.1:1", "http://[", "http://"):
            with self.subTest(endpoint=endpoint):
                daemon = self.start(endpoint)
                self.assertEqual(self.run_command(daemon, "echo on"), "success")
                with open(os.path.join(daemon.home, "log")) as log:
                    said = log.read()
                self.assertRegex(said, "WARN.*numbers are sent to nobody.*http://")
                self.assertIn("hint=", said)


if __name__ == "__main__":
    unittest.main()
