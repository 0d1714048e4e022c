"""Like requests of two senders with one journal: no outcome is that of the other's request."""

import asyncio
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keydesk_client.client import Client
from keydesk_client.models import LimitOrderRequest
from keydesk_client.orders.classify import WriteResponse
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    Intent,
    MonotonicTime,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)
from keydesk_client.orders.protocol import OrderProtocol
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.orders.sender import Sender
from support.data.shared_trade import Journey, SharedTradeBroker
from support.fakes.virtual_time import run

Act = Callable[[Sender], Awaitable[Outcome]]
ACTS: dict[str, Act] = {
    "close all": lambda sender: sender.close_trade("5"),
    "close part": lambda sender: sender.close_trade("5", units="40"),
    "cancel": lambda sender: sender.cancel("7"),
    "replace": lambda sender: sender.replace(
        "7", LimitOrderRequest(instrument="EUR_USD", units=100, price="1.06")
    ),
}
LOST = Journey(answered_after=None)
LOST_LATER = Journey(answered_after=None, lost_after=3.0)


class Senders:
    """Two senders, each with a client and a journal object of its own, as two processes have."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.senders: dict[str, Sender] = {}
        self.alarms: list[Done | Rejected | Ambiguous] = []
        self.outcomes: dict[str, Outcome] = {}
        self.sending: list[asyncio.Task[None]] = []

    def send(self, name: str, act: Act) -> None:
        self.sending.append(asyncio.create_task(self._sent(name, act)))

    def watch_all(self, broker: SharedTradeBroker) -> None:
        """Pass every transaction of the ledger to the senders, as a stream does."""
        for transaction in broker.transactions():
            for sender in self.senders.values():
                sender.watch(transaction)

    async def resolve_all(self) -> list[Outcome]:
        """Look up what is still open, with each sender."""
        left_open = FileJournal(self.path).open_intents()
        return [
            await sender.resolve(intent) for intent in left_open for sender in self.senders.values()
        ]

    async def _sent(self, name: str, act: Act) -> None:
        outcome = await act(self.senders[name])
        self.outcomes[outcome.intent.id] = outcome


def hear_nothing(_: object) -> None:
    """Ignore an outcome."""


def steady_loop_time() -> MonotonicTime:
    return MonotonicTime("the loop's", int(asyncio.get_running_loop().time() * 1e9))


def with_two_senders(
    folder: Path, broker: SharedTradeBroker, body: Callable[[Senders], Awaitable[None]]
) -> dict[str, Outcome]:
    """Run a body, wait for everything that it sent, and return the outcomes by intent."""
    path = folder / "j" / "orders.jsonl"

    async def whole() -> dict[str, Outcome]:
        async with broker.client() as one, broker.client() as other:
            senders = Senders(path)
            for name, client in (("a", one), ("b", other)):
                senders.senders[name] = Sender(
                    client,
                    FileJournal(path),
                    lambda: broker.last_id,
                    alarm=senders.alarms.append,
                    new_id=map(f"{name}-{{}}".format, count(1)).__next__,
                    wall_ns=lambda: int(asyncio.get_running_loop().time() * 1e9),
                    monotonic=steady_loop_time,
                )
            await body(senders)
            await asyncio.gather(*senders.sending, return_exceptions=True)
            return senders.outcomes

    return run(whole())


def judge(broker: SharedTradeBroker, outcome: Outcome, name: str) -> None:
    """Fail when an outcome is not true of its request."""
    made = broker.made.get(name, ())
    match outcome:
        case Done():
            assert broker.changed(name), f"{name} changed nothing, {outcome}"
            assert outcome.related_transaction_ids == made
        case Rejected():
            assert not broker.changed(name), f"{name} was carried out, {outcome}"
        case NotSent():
            assert made == ()
        case Ambiguous():
            assert len(outcome.findings) + len(outcome.like) > 1, "it could be told"
            among = set(made) <= set(outcome.related_transaction_ids)
            assert among or not broker.changed(name), f"{name} is not among them"
        case Unconfirmed(one_of=None):
            pass  # makes no statement
        case Unconfirmed(one_of=one_of):
            assert one_of is not None
            assert not one_of.is_complete


@pytest.mark.parametrize("act", ACTS)
def test_a_request_that_was_carried_out_is_never_called_rejected_for_the_refusal_of_a_like_one(
    tmp_path: Path, act: str
) -> None:
    broker = SharedTradeBroker({"a-1": LOST_LATER, "b-1": LOST})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS[act])
        senders.send("b", ACTS[act])

    outcomes = with_two_senders(tmp_path, broker, body)
    assert broker.changed("a-1")
    assert not broker.changed("b-1")
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Ambiguous)
        judge(broker, outcome, name)
        assert [type(each) for each in outcome.findings] == [Done, Rejected]
        assert outcome.requests == 2
    assert FileJournal(tmp_path / "j" / "orders.jsonl").open_intents() == ()


@pytest.mark.parametrize("act", ACTS)
def test_like_requests_are_sent_one_after_the_other_and_each_has_its_own_outcome(
    tmp_path: Path, act: str
) -> None:
    broker = SharedTradeBroker({"a-1": Journey(answered_after=0.2)})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS[act])
        senders.send("b", ACTS[act])

    outcomes = with_two_senders(tmp_path, broker, body)
    assert isinstance(outcomes["a-1"], Done)
    assert isinstance(outcomes["b-1"], Rejected)
    (_, first), (_, second) = broker.sent
    assert second - first >= 0.2


def test_requests_that_differ_do_not_wait_for_each_other(tmp_path: Path) -> None:
    broker = SharedTradeBroker({"a-1": Journey(answered_after=9.0)}, units=100)

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close part"])
        senders.send("b", ACTS["close all"])
        senders.send("b", ACTS["cancel"])

    with_two_senders(tmp_path, broker, body)
    assert {moment for _, moment in broker.sent} == {1000.0}


def test_an_exit_waits_for_a_like_one_at_most_a_second(tmp_path: Path) -> None:
    broker = SharedTradeBroker({"a-1": Journey(answered_after=9.0)})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close all"])
        senders.send("b", ACTS["close all"])

    with_two_senders(tmp_path, broker, body)
    (_, first), (_, second) = broker.sent
    assert second - first == pytest.approx(1.0, abs=0.01)


def test_a_lost_answer_is_looked_up_before_a_like_request_is_sent(tmp_path: Path) -> None:
    broker = SharedTradeBroker({"a-1": LOST})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close all"])
        senders.send("b", ACTS["close all"])

    outcomes = with_two_senders(tmp_path, broker, body)
    assert isinstance(outcomes["a-1"], Done)
    assert isinstance(outcomes["b-1"], Rejected)


@pytest.mark.parametrize("act", ACTS)
def test_the_request_id_of_an_answer_that_was_cut_tells_like_requests_apart(
    tmp_path: Path, act: str
) -> None:
    cut = Journey(answered_after=3.0, is_cut=True)
    broker = SharedTradeBroker({"a-1": cut, "b-1": cut}, tells_request_ids=True)

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS[act])
        senders.send("b", ACTS[act])

    outcomes = with_two_senders(tmp_path, broker, body)
    assert isinstance(outcomes["a-1"], Done)
    assert isinstance(outcomes["b-1"], Rejected)


@pytest.mark.parametrize("act", ACTS)
def test_like_requests_that_a_killed_process_left_open_are_recovered_as_one_of_two(
    tmp_path: Path, act: str
) -> None:
    broker = SharedTradeBroker({"a-1": LOST_LATER, "b-1": LOST_LATER})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS[act])
        senders.send("b", ACTS[act])
        await broker.has_met(2)
        for sending in senders.sending:
            sending.cancel()
        await asyncio.gather(*senders.sending, return_exceptions=True)
        senders.sending.clear()
        for outcome in await senders.senders["b"].recover():
            senders.outcomes[outcome.intent.id] = outcome

    outcomes = with_two_senders(tmp_path, broker, body)
    assert sorted(outcomes) == ["a-1", "b-1"]
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Ambiguous)
        judge(broker, outcome, name)


@pytest.mark.e2e
def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "j" / "orders.jsonl"
    journal = FileJournal(path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    with holder:
        assert holder.stdout.readline() == "holds\n"
        assert journal.claim_target("close 5") is None
        holder.kill()
    release = journal.claim_target("close 5")
    assert release is not None
    release()
    assert [each.name for each in path.parent.glob("*.turn")] == []


HOLDER = """
import sys, time
from keydesk_client.orders.journal import FileJournal
release = FileJournal(sys.argv[1]).claim_target("close 5")
print("holds" if release else "does not", flush=True)
time.sleep(600)
"""


def test_unused_lock_files_are_removed_when_the_journal_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "j" / "orders.jsonl"
    held = FileJournal(path).claim_target("held")
    left = path.with_name(path.name + ".0123.turn")
    left.touch(mode=0o600)
    journal = FileJournal(path)
    assert not left.exists()
    assert journal.claim_target("held") is None
    assert held is not None
    held()


def test_what_is_missing_of_two_like_requests_is_watched_for_and_raises_the_alarm(
    tmp_path: Path,
) -> None:
    late = Journey(arrives_after=2.0, answered_after=None)
    later = Journey(arrives_after=60.0, answered_after=None)
    broker = SharedTradeBroker({"a-1": late, "b-1": later}, units=80)
    alarms: list[Done | Rejected | Ambiguous] = []

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close part"])
        senders.send("b", ACTS["close part"])
        await asyncio.gather(*senders.sending)
        for name, outcome in senders.outcomes.items():
            assert isinstance(outcome, Unconfirmed)
            judge(broker, outcome, name)
        await asyncio.sleep(60.0)
        senders.watch_all(broker)
        await asyncio.sleep(1.0)
        alarms.extend(senders.alarms)

    with_two_senders(tmp_path, broker, body)
    assert sorted(each.intent.id for each in alarms) == ["a-1", "b-1"]
    for alarm in alarms:
        assert isinstance(alarm, Ambiguous)
        assert len(alarm.findings) == 2


def test_a_close_that_was_carried_out_is_not_rejected_when_the_rest_of_its_trade_closes_later(
    tmp_path: Path,
) -> None:
    late = Journey(arrives_after=1.5, answered_after=None)
    never = Journey(arrives_after=None)
    broker = SharedTradeBroker({"a-1": late, "b-1": never}, units=80)

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close part"])
        senders.send("b", ACTS["close part"])
        await asyncio.gather(*senders.sending)
        earlier = len(broker.transactions())
        assert isinstance(await ACTS["close all"](senders.senders["b"]), Done)
        for transaction in broker.transactions()[earlier:]:
            for sender in senders.senders.values():
                sender.watch(transaction)
        await asyncio.sleep(60.0)
        for alarm in senders.alarms:
            judge(broker, alarm, alarm.intent.id)

    with_two_senders(tmp_path, broker, body)
    assert broker.changed("a-1")


def test_an_old_like_request_keeps_the_outcome_ambiguous(tmp_path: Path) -> None:
    broker = SharedTradeBroker({"a-1": Journey(arrives_after=None), "b-1": LOST}, units=80)

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close part"])
        senders.send("b", ACTS["close part"])
        await broker.has_met(2)
        senders.sending.pop().cancel()  # as a killed process does
        await asyncio.sleep(200.0)
        async with broker.client() as client:
            later = Sender(
                client,
                FileJournal(senders.path),
                lambda: broker.last_id,
                wall_ns=lambda: int(asyncio.get_running_loop().time() * 1e9),
                monotonic=steady_loop_time,
            )
            for outcome in await later.recover():
                judge(broker, outcome, outcome.intent.id)
        for intent in senders.senders["a"].unconfirmed():
            outcome = await senders.senders["a"].resolve(intent)
            judge(broker, outcome, intent.id)

    outcomes = with_two_senders(tmp_path, broker, body)
    judge(broker, outcomes["a-1"], "a-1")
    assert broker.changed("b-1")


def test_a_like_close_of_before_is_not_taken_for_a_lost_one_by_a_feed_that_lags(
    tmp_path: Path,
) -> None:
    broker = SharedTradeBroker({"b-1": Journey(arrives_after=None)}, units=80)
    path = tmp_path / "j" / "orders.jsonl"

    async def whole() -> Outcome:
        async with broker.client() as client:
            first = Sender(client, FileJournal(path, max_settled=0), lambda: 9)
            assert isinstance(await ACTS["close part"](first), Done)
            second = Sender(client, FileJournal(path), lambda: 9, new_id=lambda: "b-1")
            return await ACTS["close part"](second)

    assert isinstance(run(whole()), Unconfirmed)


def test_a_history_that_lags_behind_the_stream_is_looked_at_again(tmp_path: Path) -> None:
    broker = SharedTradeBroker({"a-1": Journey(arrives_after=60.0, answered_after=None)})

    async def body(senders: Senders) -> None:
        senders.send("a", ACTS["close all"])
        await asyncio.gather(*senders.sending)
        await asyncio.sleep(60.0)
        happened = broker.transactions()
        broker.hidden_from_reads = 2
        for transaction in happened:
            senders.senders["a"].watch(transaction)
        await asyncio.sleep(0.5)
        assert senders.alarms == []
        broker.hidden_from_reads = 0
        await asyncio.sleep(10.0)
        (alarm,) = senders.alarms
        assert isinstance(alarm, Done)

    with_two_senders(tmp_path, broker, body)


JOURNEYS = st.builds(
    Journey,
    arrives_after=st.sampled_from([0.0, 0.0, 0.05, 0.4, 1.5, 6.0, 20.0, None]),
    answered_after=st.sampled_from([0.0, 0.3, 2.0, None, None, None]),
    is_cut=st.booleans(),
    lost_after=st.sampled_from([0.0, 0.3, 2.0, 9.0]),
)
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.sampled_from([0.0, 0.0, 0.2, 0.7, 1.1, 3.0]),
        JOURNEYS,
        st.booleans(),
        st.integers(0, 1),
    ),
    min_size=2,
    max_size=3,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kinds=st.tuples(st.sampled_from(sorted(ACTS)), st.sampled_from(sorted(ACTS))),
    requests=REQUESTS,
    units=st.sampled_from([40, 80, 200]),
    tells_request_ids=st.booleans(),
    lags=st.integers(0, 2),
)
def test_every_outcome_of_like_requests_is_true_of_that_request_or_says_one_of_these(
    kinds: tuple[str, str],
    requests: list[tuple[str, float, Journey, bool, int]],
    units: int,
    tells_request_ids: bool,
    lags: int,
) -> None:
    names = Counter[str]()
    journeys: dict[str, Journey] = {}
    for sender, _, journey, _, _ in requests:
        names[sender] += 1
        journeys[f"{sender}-{names[sender]}"] = journey
    broker = SharedTradeBroker(journeys, units=units, tells_request_ids=tells_request_ids)
    broker.hidden_from_reads = lags

    async def body(senders: Senders) -> None:
        for sender, pause, _, is_cancelled, kind in requests:
            await asyncio.sleep(pause)
            senders.send(sender, ACTS[kinds[kind]])
            if is_cancelled:
                asyncio.get_running_loop().call_later(1.3, senders.sending[-1].cancel)
        await asyncio.gather(*senders.sending, return_exceptions=True)
        broker.hidden_from_reads = 0
        await asyncio.sleep(60.0)
        senders.watch_all(broker)
        for outcome in (*senders.alarms, *await senders.resolve_all()):
            judge(broker, outcome, outcome.intent.id)

    with tempfile.TemporaryDirectory() as folder:
        outcomes = with_two_senders(Path(folder), broker, body)
    for name, outcome in outcomes.items():
        judge(broker, outcome, name)


@dataclass
class Machine:
    """The clocks of one machine: the wall clock may jump, a reboot begins the monotonic one anew."""

    name: str
    wall_offset_s: float = 0.0
    boots: int = 0
    booted_at_s: float = 0.0

    def wall_ns(self) -> int:
        return int((asyncio.get_running_loop().time() + self.wall_offset_s) * 1e9)

    def monotonic(self) -> MonotonicTime:
        passed_s = asyncio.get_running_loop().time() - self.booted_at_s
        return MonotonicTime(f"{self.name} {self.boots}", int(passed_s * 1e9))

    def reboot(self) -> None:
        self.boots += 1
        self.booted_at_s = asyncio.get_running_loop().time()


@dataclass(frozen=True)
class Send:
    """Send a request of one of two kinds."""

    kind: int
    journey: Journey


@dataclass(frozen=True)
class Restart:
    """Kill the process, with or without a reboot of its machine, and recover with another one."""

    is_reboot: bool = False


@dataclass(frozen=True)
class Jump:
    """Set the wall clock of the process's machine; waking up from sleep does so as well."""

    seconds: float


Script = list[tuple[float, Send | Restart | Jump]]
"""What happens to a process: each with the seconds before it."""


@dataclass
class Processes:
    """Processes that share a journal, on one machine or on two."""

    broker: SharedTradeBroker
    path: Path
    acts: tuple[Act, Act]
    machines: dict[str, Machine]
    said: list[Outcome] = field(default_factory=list[Outcome])
    senders: dict[str, Sender] = field(default_factory=dict[str, Sender])
    sending: dict[str, list[asyncio.Task[Outcome]]] = field(
        default_factory=dict[str, list[asyncio.Task[Outcome]]]
    )

    async def play(self, scripts: dict[str, Script]) -> None:
        """Play the scripts side by side; then let everything arrive, and look up once more what is open."""
        async with self.broker.client() as client:
            async with asyncio.TaskGroup() as playing:
                for name, script in scripts.items():
                    playing.create_task(self._play(name, script, client))
            tasks = [each for sent in self.sending.values() for each in sent]
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(200.0)
            for transaction in self.broker.transactions():
                for sender in self.senders.values():
                    sender.watch(transaction)
            await asyncio.sleep(10.0)
            for sender in self.senders.values():
                await sender.recover()

    async def _play(self, name: str, script: Script, client: Client) -> None:
        new_id = map(f"{name}-{{}}".format, count(1)).__next__
        self.sending[name] = []
        self.senders[name] = self._started(name, client, new_id)
        for pause, event in script:
            await asyncio.sleep(pause)
            match event:
                case Send(kind):
                    sent = asyncio.ensure_future(self.acts[kind](self.senders[name]))
                    self.sending[name].append(sent)
                case Jump(seconds):
                    self.machines[name].wall_offset_s += seconds
                case Restart(is_reboot):
                    await self._kill(name)
                    if is_reboot:
                        self.machines[name].reboot()
                    self.senders[name] = self._started(name, client, new_id)
                    await self.senders[name].recover()

    async def _kill(self, name: str) -> None:
        tasks = self.sending[name]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        tasks.clear()

    def _started(self, name: str, client: Client, new_id: Callable[[], str]) -> Sender:
        return Sender(
            client,
            FileJournal(self.path),
            lambda: self.broker.last_id,
            self._hear,
            new_id=new_id,
            wall_ns=self.machines[name].wall_ns,
            monotonic=self.machines[name].monotonic,
        )

    def _hear(self, progress: Progress) -> None:
        if not isinstance(progress, Sending | Unknown):
            self.said.append(progress)


@dataclass(frozen=True)
class Trial:
    """Two processes that share a journal."""

    scripts: dict[str, Script]
    kinds: tuple[str, str]
    units: int = 40
    lag_s: float = 0.0
    are_apart: bool = False
    """On two machines."""

    def outcomes(self) -> tuple[SharedTradeBroker, list[Outcome]]:
        """Play the scripts; return the broker and every outcome."""
        broker = SharedTradeBroker(self._journeys(), units=self.units)
        broker.lag_s = self.lag_s
        one, other = Machine("one"), Machine("other", wall_offset_s=500.0, booted_at_s=-9e6)
        machines = {"a": one, "b": other if self.are_apart else one}
        acts = ACTS[self.kinds[0]], ACTS[self.kinds[1]]
        with tempfile.TemporaryDirectory() as folder:
            processes = Processes(broker, Path(folder) / "j" / "orders.jsonl", acts, machines)
            run(processes.play(self.scripts))
        return broker, processes.said

    def check(self) -> None:
        """Fail when an outcome is not true of its request."""
        broker, said = self.outcomes()
        for outcome in said:
            judge(broker, outcome, outcome.intent.id)

    def _journeys(self) -> dict[str, Journey]:
        return {
            f"{name}-{number}": send.journey
            for name, script in self.scripts.items()
            for number, send in enumerate((each for _, each in script if isinstance(each, Send)), 1)
        }


SLOW = Journey(arrives_after=60.0, answered_after=None, lost_after=90.0)
NEVER = Journey(arrives_after=None, lost_after=90.0)


@pytest.mark.parametrize("jump", [121.0, 86_400.0])
def test_a_wall_clock_that_jumps_makes_no_request_under_way_an_old_one(jump: float) -> None:
    script: Script = [
        (0.0, Send(0, SLOW)),
        (1.0, Jump(jump)),
        (0.0, Restart()),
        (0.0, Restart()),
        (0.0, Send(0, NEVER)),
    ]
    Trial({"a": script}, ("close all", "close all")).check()


def test_an_old_request_stays_open_while_a_stopped_process_holds_its_lock(tmp_path: Path) -> None:
    broker = SharedTradeBroker({})
    path = tmp_path / "j" / "orders.jsonl"
    left_open: list[int] = []

    async def whole() -> None:
        async with broker.client() as client:

            async def stopped() -> WriteResponse:
                await asyncio.sleep(600.0)
                raise AssertionError("nobody lets it go on")

            sender = Sender(client, FileJournal(path), lambda: 9, monotonic=steady_loop_time)
            protocol = OrderProtocol(
                client,
                FileJournal(path),
                hear_nothing,
                hear_nothing,
                wall_ns=lambda: 0,
                monotonic=steady_loop_time,
                pauses=PAUSES_S,
            )
            at = steady_loop_time()
            intent = Intent("a-1", Action.CANCEL, 9, 0, None, "7", {}, monotonic=at)
            sending = asyncio.create_task(protocol.execute(intent, stopped))
            for _ in range(2):
                await asyncio.sleep(130.0)
                (outcome,) = await sender.recover()
                assert isinstance(outcome, Unconfirmed)
                left_open.append(len(FileJournal(path).open_intents()))
                sending.cancel()

    run(whole())
    assert left_open == [1, 0]


SCRIPTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.2, 1.1, 3.0, 40.0, 130.0]),
        st.one_of(
            st.builds(
                Send,
                st.integers(0, 1),
                st.builds(
                    Journey,
                    arrives_after=st.sampled_from([0.0, 0.0, 0.4, 6.0, 30.0, 60.0, 100.0, None]),
                    answered_after=st.sampled_from([0.0, 2.0, None, None, None]),
                    is_cut=st.booleans(),
                    lost_after=st.sampled_from([0.0, 2.0, 9.0]),
                ),
            ),
            st.builds(Restart, st.sampled_from([False, False, False, True])),
            st.builds(
                lambda size, sign: Jump(size * sign),
                st.sampled_from([1.0, 30.0, 119.0, 121.0, 600.0, 3600.0, 86_400.0]),
                st.sampled_from([1, 1, -1]),
            ),
        ),
    ),
    min_size=3,
    max_size=9,
)
TRIALS = st.builds(
    Trial,
    scripts=st.fixed_dictionaries({"a": SCRIPTS, "b": SCRIPTS}),
    kinds=st.sampled_from([*((kind, kind) for kind in sorted(ACTS)), ("close all", "close part")]),
    units=st.sampled_from([40, 80, 200]),
    lag_s=st.sampled_from([0.0, 0.0, 0.7, 15.0]),
    are_apart=st.booleans(),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trial=TRIALS)
def test_every_outcome_is_true_though_clocks_jump_and_processes_are_killed(trial: Trial) -> None:
    trial.check()


@pytest.mark.soak
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(trial=TRIALS)
def test_every_outcome_is_true_in_three_thousand_trials_with_jumps(trial: Trial) -> None:
    trial.check()
