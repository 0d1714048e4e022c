"""Puts the wall clock of a process some seconds ahead: `time.time` and all that is made of it; steady clocks stay."""

import os
import time

_time, _time_ns = time.time, time.time_ns
_SECONDS = int(os.environ["KEYDESK_TEST_CLOCK_AHEAD"])
time.time = lambda: _time() + _SECONDS
time.time_ns = lambda: _time_ns() + _SECONDS * 1_000_000_000
