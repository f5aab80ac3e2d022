"""What Skein's key-value store does, of a job of this machine, from outside and from its task."""

from __future__ import annotations

import copy
import sys
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import PROGRAMS, ROOT

from tony_ts import TonyError, skein
from tony_ts.skein import kv

DATA = {"bar": b"a", "barf": b"b", "bars": b"c", "bart": b"d", "foo": b"e", "food": b"f", "foodie": b"g"}
BARS = {key: held for key, held in DATA.items() if key.startswith("bar")}


#: Its path is told to those who test: what a task may ask is asked in its place.
IDLE = 'printf "%s" "$TONY_API" > "$TOLD/$TASK_INDEX.part"; mv "$TOLD/$TASK_INDEX.part" "$TOLD/$TASK_INDEX"; sleep 600'


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[skein.ApplicationClient, Path]]:
    """Two containers that run, and one that has ended."""
    told = tmp_path_factory.mktemp("told")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TONY_TS", str(PROGRAMS / "tony-ts.cjs"))
        patch.setenv("HADOOP_CONF_DIR", str(told / "no-cluster"))
        patch.setenv("XDG_STATE_HOME", str(told / "state"))
        resources = skein.Resources(memory="256 MiB", vcores=1)
        idle = skein.Service(resources, IDLE, instances=2, env={"TOLD": str(told)})
        short = skein.Service(resources, "true")
        app = skein.Client(scheduler="local").submit_and_connect(
            skein.ApplicationSpec(services={"sleeper": idle, "short": short})
        )
        while {one.id: one.state for one in app.get_containers()}["short_0"] != "SUCCEEDED":
            time.sleep(0.2)
        while not (told / "0").exists():
            time.sleep(0.2)
        yield app, told
        app.shutdown()


@pytest.fixture
def store(app: tuple[skein.ApplicationClient, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[kv.KeyValueStore]:
    """As the task sleeper:0 has it."""
    monkeypatch.setenv("TONY_API", (app[1] / "0").read_text())
    store = skein.ApplicationClient.from_current().kv
    yield store
    store.clear()


@pytest.fixture
def outside(app: tuple[skein.ApplicationClient, Path], monkeypatch: pytest.MonkeyPatch) -> kv.KeyValueStore:
    monkeypatch.setenv("XDG_STATE_HOME", str(app[1] / "state"))
    return app[0].kv


def test_conditions_are_written_as_comparisons() -> None:
    assert kv.comparison("foo", "value", "==", b"bar") == (kv.value("foo") == b"bar")
    made = kv.owner("foo") >= "worker_1"
    assert (made.key, made.field, made.operator, made.rhs) == ("foo", "owner", ">=", "worker_1")
    assert copy.deepcopy(made) == made
    assert kv.is_condition(made)
    assert not kv.is_condition(kv.value("foo"))
    assert repr(kv.value("foo")) == "value('foo')"
    with pytest.raises(AttributeError):
        made.key = "bar"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (kv.comparison, (1, "value", "==", b"bar")),
        (kv.comparison, ("foo", "owner", "<=", None)),
        (kv.comparison, ("foo", "value", "==", "text")),
        (kv.exists, (1,)),
        (kv.get, ("foo", 1)),
        (kv.pop, ("foo", None, 1)),
        (kv.get_prefix, (1,)),
        (kv.discard_range, ("a", "b", None)),
        (kv.count, (1,)),
        (kv.put, ("foo", "text")),
        (kv.put, ("foo", b"", 1)),
        (kv.EventFilter, (1,)),
    ],
)
def test_what_is_of_the_wrong_type_is_a_type_error(kind: Any, words: Any) -> None:
    with pytest.raises(TypeError):
        kind(*words)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (kv.comparison, ("foo", "unknown", "==", b"bar")),
        (kv.comparison, ("foo", "value", "~", b"bar")),
        (kv.list_keys, ("a", None, "b")),
        (kv.put, ("foo",)),
        (kv.put, ("foo", b"", "worker")),
        (kv.EventFilter, ("a", "b")),
        (kv.EventFilter, (None, None, None, None, "foo")),
    ],
)
def test_what_cannot_be_is_a_value_error(kind: Any, words: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        kind(*words)


def test_keys_are_a_mapping(store: kv.KeyValueStore) -> None:
    assert (len(store), list(store), dict(store)) == (0, [], {})
    store["k2"] = b"v2"
    store["k1"] = b"\xff"
    assert ("k1" in store, "missing" in store, list(store), store["k1"]) == (True, False, ["k1", "k2"], b"\xff")
    del store["k2"]
    with pytest.raises(KeyError):
        store["k2"]
    with pytest.raises(KeyError):
        del store["k2"]
    assert [store.setdefault("new", held) for held in (b"1", b"2")] == [b"1", b"1"]
    store.update({"a": b"0", "b": b"?"}, b=b"1")
    assert store.get_range(end="c") == {"a": b"0", "b": b"1"}
    with pytest.raises(TypeError):
        store["k3"] = "text"  # type: ignore[assignment]
    store.clear()
    assert len(store) == 0


def test_keys_are_read_by_prefix_and_range(store: kv.KeyValueStore) -> None:
    store.update(DATA)
    assert (store.count(), store.count(prefix="bar"), store.count(start="bars", end="food")) == (7, 4, 3)
    assert store.list_keys(start="bars", end="food") == ["bars", "bart", "foo"]
    assert (store.get_prefix("bar"), store.get_prefix("missing")) == (BARS, {})
    assert store.get_range("foo", return_owner=True) == {k: (DATA[k], None) for k in ("foo", "food", "foodie")}
    assert store.get_range("z", "a") == {}
    assert (store.exists("bar"), store.missing("bar")) == (True, False)
    assert (store.get("bar"), store.get("no"), store.get("no", b"x")) == (b"a", None, b"x")
    assert (store.get("bar", return_owner=True), store.get("no", return_owner=True)) == ((b"a", None), (None, None))


def test_keys_are_taken_by_prefix_and_range(store: kv.KeyValueStore) -> None:
    store.update(DATA)
    assert (store.pop("bar"), store.pop("bar"), store.pop("no", b"x", return_owner=True)) == (b"a", None, (b"x", None))
    assert (store.discard("barf"), store.discard("barf")) == (True, False)
    assert store.pop_prefix("bar", return_owner=True) == {"bars": (b"c", None), "bart": (b"d", None)}
    assert store.discard_range("foo", "food", return_keys=True) == ["foo"]
    assert (store.discard_prefix("food"), store.discard_prefix("food")) == (2, 0)
    store.update(DATA)
    assert (store.pop_range(end="foo"), store.pop_range("z", "a"), store.discard_range()) == (BARS, {}, 3)


def test_a_write_keeps_what_it_does_not_name(store: kv.KeyValueStore) -> None:
    mine = "sleeper_0"
    seen = []
    for words in (
        {"value": b"a"},
        {"owner": mine},
        {"value": b"b"},
        {"owner": None},
        {"value": b"c", "owner": mine},
        {"value": b"d", "owner": None},
    ):
        seen.append(store.swap("foo", return_owner=True, **words))
    assert seen == [(None, None), (b"a", None), (b"a", mine), (b"b", mine), (b"b", None), (b"c", mine)]
    assert store.get("foo", return_owner=True) == (b"d", None)
    with pytest.raises(ValueError, match="'missing' is missing: give it a value, too"):
        store.put("missing", owner=mine)


@pytest.mark.parametrize(
    ("owner", "why"),
    [("unknown_0", "no task unknown:0"), ("sleeper_100", "no task sleeper:100"), ("short_0", "no task that lives")],
)
def test_an_owner_is_a_container_that_runs(
    store: kv.KeyValueStore, outside: kv.KeyValueStore, owner: str, why: str
) -> None:
    store["a"] = b"a"
    for conditions, do in (([kv.exists("a")], "on_success"), ([kv.missing("a")], "on_failure")):
        branches: dict[str, Any] = {do: [kv.put("b", b"b"), kv.put("a", owner=owner)]}
        with pytest.raises(ValueError, match=why):
            outside.transaction(conditions, **branches)
    assert store.get_range(return_owner=True) == {"a": (b"a", None)}


def test_from_outside_keys_are_bound_to_any_container(store: kv.KeyValueStore, outside: kv.KeyValueStore) -> None:
    outside.put("a", b"\xff", owner="sleeper_1")
    outside.put("b", b"1", owner="SLEEPER_0")
    assert outside.swap("a", owner="sleeper_0", return_owner=True) == (b"\xff", "sleeper_1")
    found = {"a": (b"\xff", "sleeper_0"), "b": (b"1", "sleeper_0")}
    assert outside.get_range(return_owner=True) == store.get_range(return_owner=True) == found
    with pytest.raises(ValueError, match="one container, not to sleeper_0 and sleeper_1"):
        outside.transaction([], [kv.put("x", b"", "sleeper_0"), kv.put("y", b"", "sleeper_1")])
    with outside.events(prefix="c") as changes:
        store["c"] = b"1"
        assert seen(changes, 1) == [("c", (b"1", None), "PUT")]
        timer = threading.Timer(0.2, store.put, ("foo", b"2"))
        timer.start()
        assert outside.wait("foo") == b"2"
        timer.join()


def test_a_transaction_depends_on_values_and_owners(store: kv.KeyValueStore, outside: kv.KeyValueStore) -> None:
    outside.put("owner", b"bcd", owner="sleeper_1")
    store.put("no_owner", b"bcd")

    def holds(*conditions: kv.Condition) -> bool:
        return store.transaction(conditions).succeeded

    held, owner, free = kv.value("owner"), kv.owner("owner"), kv.owner("no_owner")
    true = [
        kv.exists("owner"),
        kv.missing("missing"),
        held == b"bcd",
        held != b"bce",
        kv.value("missing") != b"bcd",
        held < b"bce",
        held <= b"bcd",
        held > b"bcc",
        held >= b"bcd",
        owner != None,  # noqa: E711
        free == None,  # noqa: E711
        owner == "sleeper_1",
        free != "sleeper_1",
        owner < "sleeper_10",
        owner <= "sleeper_1",
        owner > "sleeper_0",
        owner >= "sleeper_1",
    ]
    false = [
        kv.exists("missing"),
        kv.missing("owner"),
        held == b"bce",
        held != b"bcd",
        held < b"bcd",
        held <= b"bcc",
        held > b"bcd",
        held >= b"bce",
        *(kv.comparison("missing", "value", operator, b"") for operator in ("==", "<", "<=", ">", ">=")),
        owner == None,  # noqa: E711
        free != None,  # noqa: E711
        *(kv.comparison("no_owner", "owner", operator, "sleeper_0") for operator in ("==", "<", "<=", ">", ">=")),
        owner == "sleeper_0",
        owner > "sleeper_2",
    ]
    assert holds()
    assert holds(*true)
    assert [one for one in false if holds(one)] == []
    assert not holds(true[0], false[0], true[1])


def test_a_transaction_does_one_of_two_things(store: kv.KeyValueStore) -> None:
    store.put("a", b"a", owner="sleeper_0")
    store.update({"aa": b"aa", "b": b"b"})
    never = [kv.put("never", b"bad")]
    found = {"a": b"a", "aa": b"aa"}
    for condition, succeeded in ((kv.exists("b"), True), (kv.missing("b"), False)):
        do = [kv.get_prefix("a"), kv.get("missing"), kv.count(), kv.list_keys(start="aa")]
        branches = (do, never) if succeeded else (never, do)
        assert store.transaction([condition], *branches) == (succeeded, [found, None, 3, ["aa", "b"]])
        assert store.transaction([condition], *([], never)[:: 1 if succeeded else -1]) == (succeeded, [])
    done = store.transaction([], [kv.discard_prefix("a", True), kv.put("a", b"1"), kv.swap("b", owner="sleeper_0")])
    assert done == (True, [["a", "aa"], None, b"b"])
    assert store.get_range(return_owner=True) == {"a": (b"1", None), "b": (b"b", "sleeper_0")}
    with pytest.raises(TypeError, match="conditions is a list of Condition"):
        store.transaction([kv.get("foo")])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="on_failure is a list of Operation"):
        store.transaction(on_failure=[kv.value("foo") == b"bar"])


def test_a_write_that_was_overtaken_is_made_again(store: kv.KeyValueStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store["n"] = b"1"
    inner: Any = store._store
    asked: list[Any] = []

    def transact(conditions: Any, operations: Any, owner: Any) -> Any:
        asked.append(conditions)
        if len(asked) == 2:
            inner.transact([], [{"type": "put", "key": "shared/n", "value": "2"}], None)
        return inner.transact(conditions, operations, owner)

    other = kv.KeyValueStore(type("", (), {"transact": staticmethod(transact)})())
    assert other.transaction([kv.value("n") == b"1"], [kv.put("n", b"3")]).succeeded is False
    assert (store["n"], len(asked)) == (b"2", 4)


def seen(changes: kv.EventQueue, how_many: int) -> list[tuple[str, Any, str]]:
    events = [changes.get(timeout=60) for _ in range(how_many)]
    return [(event.key, event.result, event.event_type.value) for event in events]


def test_changes_are_told_to_those_who_subscribed(store: kv.KeyValueStore) -> None:
    store["b"] = b"before"
    changes, deletes = store.event_queue(), store.events(start="b", event_type="delete")
    first = changes.subscribe(end="b")
    changes.subscribe(prefix="b")
    assert changes.subscribe(kv.EventFilter(end="b")) == first
    with store.events() as all_of_them:
        store.update({"a": b"1", "b": b"2"})
        store.put("b", owner="sleeper_0")
        store.discard_range()
        put_b = ("b", (b"2", "sleeper_0"), "PUT")
        gone = [("a", None, "DELETE"), ("b", None, "DELETE")]
        expected = [("a", (b"1", None), "PUT"), ("b", (b"2", None), "PUT"), put_b, *gone]
        assert seen(all_of_them, 5) == expected
        assert seen(changes, 5) == expected
        assert seen(deletes, 1) == gone[1:]
    assert all_of_them.filters == set()
    deletes.unsubscribe(start="b", event_type="delete")
    with pytest.raises(ValueError, match="is not subscribed"):
        deletes.unsubscribe(key="missing")
    changes.unsubscribe_all()
    # Another watch begins.
    with store.events(key="c") as later:
        store["c"] = b"3"
        assert seen(later, 1) == [("c", (b"3", None), "PUT")]


def test_a_key_is_waited_for(store: kv.KeyValueStore) -> None:
    timer = threading.Timer(0.2, store.put, ("foo", b"1"))
    timer.start()
    assert store.wait("foo") == b"1"
    timer.join()
    assert store.wait("foo", return_owner=True) == (b"1", None)


PROGRAM = """
import sys
from tony_ts import skein
from tony_ts.skein import kv

app = skein.ApplicationClient.from_current()
changes = app.kv.events(prefix="m")
app.kv.put("mine", b"\\xff", owner="my-service_0")
app.kv.put("mine", value=b"2")
done = app.kv.transaction([kv.owner("mine") == "my_service_0"], [kv.get("mine", return_owner=True)])
print(done.succeeded, done.results[0].owner, changes.get().result.value, changes.get().result.value)
try:
    app.kv.put("other", b"", owner="my-service_1")
except ValueError as error:
    print(error)
app.kv.wait("seen")
"""


def test_a_task_binds_keys_to_itself_and_they_go_with_it() -> None:
    Path("program.py").write_text(PROGRAM)
    resources = skein.Resources(memory="256 MiB", vcores=1)
    env = {"PYTHONPATH": str(ROOT / "python" / "src")}
    script = f"{sys.executable} -W error program.py"
    mine = skein.Service(resources, script, files={"program.py": "program.py"}, env=env)
    stays = skein.Service(resources, "sleep 600")
    app = skein.Client(scheduler="local").submit_and_connect(
        skein.ApplicationSpec(services={"my_service": mine, "stays": stays})
    )
    assert app.kv.wait("mine", return_owner=True).owner == "my-service_0"
    with app.kv.events(key="mine", event_type="delete") as changes:
        app.kv["seen"] = b""
        assert seen(changes, 1) == [("mine", None, "DELETE")]
    assert [line.line for line in app.job.logs("my-service")] == [
        "True my-service_0 b'\\xff' b'2'",
        "a key is my-service:1's: a task binds keys to itself alone, and this is my-service:0",
    ]
    changes = app.kv.events()
    app.kv["last"] = b"1"
    app.shutdown()
    assert seen(changes, 1) == [("last", (b"1", None), "PUT")]
    for _ in range(2):
        with pytest.raises(TonyError, match="The job has ended"):
            changes.get(timeout=60)
    assert app.job.state == "killed"
