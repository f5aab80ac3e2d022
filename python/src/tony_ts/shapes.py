"""
What ``tony-ts --json`` prints, as Python's types: docs/reference/json.md says what each field means, and a test checks
these against it. Values are the dictionaries that were printed: new fields and new words may be added at any time.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

JobState = Literal["starting", "gathering", "running", "restarting", "finishing", "succeeded", "failed", "killed"]
TaskState = Literal[
    "waiting", "allocated", "launched", "registered", "running", "succeeded", "failed", "stopped", "lost"
]
TrialState = Literal["completed", "stopped", "failed", "paused", "running", "interrupted"]
FailureClass = Literal["program", "infrastructure"]
Relation = Literal["consequence", "not-counted", "also-failed", "possible-consequence"]
ReadableStream = Literal["stdout", "stderr", "executor"]
ApplicationState = Literal["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "FINISHED", "FAILED", "KILLED"]

#: A ``code`` with its facts: docs/reference/reasons.md.
Coded = Dict[str, Any]


class _Cost(TypedDict):
    amount: float


class Cost(_Cost, total=False):
    currency: str


class _Usage(TypedDict):
    memoryMiBSeconds: int
    vcoreSeconds: int


class Usage(_Usage, total=False):
    gpuSeconds: int
    cost: Cost


class Service(TypedDict):
    name: str
    url: str
    task: str


class ErrorWords(TypedDict):
    code: str
    message: str
    retryable: bool


class _JobStatus(TypedDict):
    statusVersion: Literal[1]
    applicationId: str
    attempt: int
    name: str
    queue: str
    state: JobState
    generation: int
    startedAtMs: int
    nowMs: int
    amHost: str
    roles: List[RoleStatus]
    tasks: List[TaskStatus]
    waits: List[Wait]
    generations: List[GenerationSummary]
    budgets: Budgets
    services: List[Service]
    usage: Usage


class JobStatus(_JobStatus, total=False):
    """The state of a job as people and programs see it: what the AM publishes, `tony-ts status --json` prints and history keeps. Times are milliseconds since the epoch. Fields are only ever added."""

    distributedMode: Literal["fcfs"]
    submittedAtMs: int
    amContainerId: str
    takeovers: List[Takeover]
    checkpoint: Checkpoint
    resumeFrom: str
    droppedCheckpoint: Coded
    idle: Idle
    search: SearchStatus
    feeds: List[FeedStatus]
    outcome: JobOutcome


class _RoleStatus(TypedDict):
    name: str
    instances: int
    allocated: int
    registered: int
    running: int
    ended: int
    memoryMiB: int
    vcores: int
    others: Dict[str, int]


class RoleStatus(_RoleStatus, total=False):
    nodeLabel: str


class _TaskStatus(TypedDict):
    task: str
    state: TaskState
    restarts: int


class _SearchStatus(TypedDict):
    metric: str
    direction: Literal["minimize", "maximize"]
    parameters: List[str]
    command: str


class SearchStatus(_SearchStatus, total=False):
    """The measure by which trials of a search are compared, and how one of them is run alone."""

    space: List[str]
    jobFile: str
    givenKeys: List[str]
    outputDir: str
    containerTime: Dict[str, int]
    trials: int
    algorithm: Literal["tpe", "random", "grid", "evolution", "optuna"]
    stop: Literal["none", "median", "asha", "asha-promotion", "hyperband"]
    budget: Dict[str, int]
    maxParallel: int


class _FeedStatus(TypedDict):
    name: str
    epoch: int
    splits: int
    used: int
    leftOut: int
    failures: List[SplitFailure]
    triedAgain: int
    readers: List[FeedReaderStatus]


class FeedStatus(_FeedStatus, total=False):
    """How far a feed is, in the present generation."""

    epochs: int
    watermarkMs: int
    output: str


class SplitFailure(TypedDict):
    """A split that is left out."""

    split: int
    path: str
    start: int
    end: int
    reason: str


class FeedReaderStatus(TypedDict):
    """
    What a task has used of a feed since it began to read, or since the last attempt of the ApplicationMaster began.
    """

    task: str
    splits: int
    rows: int
    sinceMs: int
    usedAtMs: int
    isDone: bool


class _TrialStatus(TypedDict):
    state: TrialState


class TrialStatus(_TrialStatus, total=False):
    """The state of a trial of a search."""

    why: str
    nonFinite: Literal["NaN", "Infinity", "-Infinity"]
    checkpoint: str
    lines: List[str]
    application: str


class _TrialJson(TypedDict):
    number: int
    task: str
    params: Dict[str, Any]
    state: TrialState


class TrialJson(_TrialJson, total=False):
    """A trial of a search: what was tried, and what came of it."""

    value: float
    step: int
    checkpointStep: int
    startedAtMs: int
    endedAtMs: int
    why: str
    nonFinite: Literal["NaN", "Infinity", "-Infinity"]
    checkpoint: str
    lines: List[str]
    application: str


class TaskStatus(_TaskStatus, total=False):
    params: Dict[str, str]
    trial: TrialStatus
    host: str
    port: int
    ports: Dict[str, int]
    containerId: str
    nodeHttpAddress: str
    startedAtMs: int
    endedAtMs: int
    exit: str
    step: int
    checkpointStep: int
    rate: float
    metrics: Dict[str, float]
    transfers: List[Transfer]
    memoryBytes: int
    maxMemoryBytes: int
    cpuCores: float
    disk: DiskUse
    gpus: GpuMetrics
    restartReason: str


class _Wait(TypedDict):
    reason: Coded
    cause: str
    what: str
    sinceMs: int
    delays: List[Coded]
    reasons: List[str]


class Wait(_Wait, total=False):
    """One thing that the job waits for, with the key that helps, if there is one: as data, and in words."""

    remedy: str
    fix: Coded
    endsAtMs: int
    atEnd: str


class _GenerationSummary(TypedDict):
    generation: int
    startedAtMs: int


class GenerationSummary(_GenerationSummary, total=False):
    """How one generation went."""

    allocatedAtMs: int
    localizedAtMs: int
    registeredAtMs: int
    runningAtMs: int
    endedAtMs: int
    endedBy: Cause
    resumedFrom: Checkpoint
    roles: List[str]


class Takeover(TypedDict):
    """When a later attempt of the ApplicationMaster took the job over."""

    attempt: int
    atMs: int


class _Budget(TypedDict):
    used: int
    limit: int


class Budget(_Budget, total=False):
    """Restarts after failures of one class."""

    windowMs: int


class _Budgets(TypedDict):
    program: Budget
    infrastructure: Budget


class Budgets(_Budgets, total=False):
    roles: List[RoleBudget]


class RoleBudget(TypedDict):
    """Restarts after failures of one role's programs."""

    role: str
    used: int
    limit: int


class Checkpoint(TypedDict):
    path: str
    step: int
    atMs: int


class Idle(TypedDict):
    """All running programs use neither their processors nor their GPUs."""

    tasks: List[str]
    sinceMs: int
    untilMs: int
    cpuMs: int
    gpus: int


class _JobOutcome(TypedDict):
    result: Literal["succeeded", "failed", "killed"]
    summary: str
    reason: Coded
    endedAtMs: int


class JobOutcome(_JobOutcome, total=False):
    """How the job ended."""

    cause: Cause
    rule: str


_Cause = TypedDict(
    "_Cause",
    {
        "class": "FailureClass",
        "reason": "Coded",
        "summary": "str",
        "atMs": "int",
        "lines": "List[str]",
        "consequences": "List[str]",
        "followed": "List[Consequence]",
    },
)


class Cause(_Cause, total=False):
    """Why a generation ended: the root, and what followed from it."""

    generation: int
    task: str
    host: str
    containerId: str
    exit: str
    remedy: str
    fix: Coded


class Consequence(TypedDict):
    """The end of another task besides the root cause."""

    reason: Coded
    relation: Relation
    laterMs: int


class Transfer(TypedDict):
    """The state of an executor's upload; ``empty``: the program left no output file."""

    what: Literal["checkpoint", "output", "restored"]
    state: Literal["under-way", "done", "incomplete", "failed", "empty"]
    url: str
    files: int
    bytes: int
    step: int
    atMs: int
    reason: str


class DiskUse(TypedDict):
    """What the processes of a task have read from disks and written to them since the last measurement."""

    readBytesPerSecond: float
    writtenBytesPerSecond: float


class _GpuMetrics(TypedDict):
    count: int


class GpuMetrics(_GpuMetrics, total=False):
    """What the GPUs that YARN granted a task do, as nvidia-smi reports. A gauge is absent when no GPU reports it."""

    unused: int
    utilization: Gauge
    memory: Gauge
    bar1Memory: Gauge
    devices: List[GpuDevice]


class GpuDevice(TypedDict, total=False):
    """Percentages in the last sample; what nvidia-smi does not report is absent."""

    utilization: float
    memory: float


class Gauge(TypedDict):
    """Percentages since the program started."""

    current: float
    max: float
    average: float


class JobEvent(TypedDict):
    """The first event: which job it is."""

    event: Literal["job"]
    applicationId: str
    name: str
    queue: str
    submitted: bool


class WaitingEvent(TypedDict):
    """Before its AM runs, and between two AMs: whenever the reason changes."""

    event: Literal["waiting"]
    state: ApplicationState
    reason: str
    delay: Coded


class StatusEvent(TypedDict):
    """Whenever more has changed than times and amounts."""

    event: Literal["status"]
    status: JobStatus


class _OutputEvent(TypedDict):
    event: Literal["output"]
    task: str
    stream: ReadableStream
    line: str


class OutputEvent(_OutputEvent, total=False):
    """A line of a task's output."""

    generation: int
    atMs: int


class RemarkEvent(TypedDict):
    """A remark: what was uploaded, or that the AM does not answer, for example."""

    event: Literal["remark"]
    text: str


class _EndEvent(TypedDict):
    event: Literal["end"]
    outcome: Optional[JobOutcome]
    exitCode: int


class EndEvent(_EndEvent, total=False):
    """The last event, even where nothing could be done: it then contains an error."""

    error: ErrorWords


#: Distinguished by ``event``.
Event = Union[JobEvent, WaitingEvent, StatusEvent, OutputEvent, RemarkEvent, EndEvent]
