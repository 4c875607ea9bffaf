"""What each process has done last, and what the processes' records say together when they are compared."""

from mindtorch.distributed.flight_recorder.recorder import RECORDER as RECORDER
from mindtorch.distributed.flight_recorder.recorder import Entry as Entry
from mindtorch.distributed.flight_recorder.recorder import FlightRecorder as FlightRecorder
from mindtorch.distributed.flight_recorder.recorder import dump_trace as dump_trace
from mindtorch.distributed.flight_recorder.recorder import dump_trace_json as dump_trace_json
