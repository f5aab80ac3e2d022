import { describe, expect, it } from "@jest/globals";
import { type ExitEvidence, reportExit, reportNeverRan } from "../../../executor/program/exit-report.ts";
import { executorMessage } from "../../../src/api/generated/codecs.ts";
import { MOST_REQUEST_BYTES } from "../../../src/api/tls.ts";
import { frameworks } from "../../../src/frameworks/frameworks.ts";
import { pumped } from "../../support/pumped.ts";

const MIB = 1_048_576;
const fits = { killsBefore: 0, killsAfter: 0, lastSampleBytes: 100 * MIB, limitBytes: 1024 * MIB };

function exitOf(changes: Partial<ExitEvidence> & { code?: number; signal?: NodeJS.Signals } = {}) {
  const { code = null, signal = null, ...evidence } = changes;
  return reportExit({
    end: { exitCode: code, signal, atMs: 5 },
    startedAtMs: 1,
    stdout: "",
    stderr: "",
    lines: 20,
    ports: { held: [41_000, 41_001], lost: [] },
    memory: fits,
    peakMemoryBytes: 7,
    ...evidence,
  });
}

const traceback = (exception: string) =>
  `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n${exception}\n`;

describe("a program that never ran", () => {
  it("was stopped before, as by a signal", () => {
    const stopReason = { code: "container-terminated" } as const;
    expect(reportNeverRan({ stopReason }, 5)).toMatchObject({ signal: "SIGTERM", exitCode: 143, atMs: 5, stopReason });
  });

  it.each([true, false])("could not be started, says why, and whether the system refused it: %s", (isSystems) => {
    expect(reportNeverRan({ startError: { message: "no such file", isSystems } }, 5)).toMatchObject({
      exitCode: 1,
      signal: "",
      failedToStart: true,
      refusedBySystem: isSystems,
      errorSummary: "no such file",
    });
  });
});

describe("a program that goes on with whoever is there", () => {
  const { torchrun, horovod, pytorch } = frameworks;

  it.each([
    ["torchrun", "closed", traceback("torch.distributed.elastic.rendezvous.api.RendezvousClosedError")],
    ["torchrun", "empty", traceback("torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: no store")],
    ["horovod", "closed", "tony-ts: the others are done\n"],
    ["horovod", "empty", "tony-ts: connection refused at /dev/tcp/n1/5000, where the first task was\n"],
  ] as const)("says by %s that the meeting was %s", (name, missedMeeting, stderr) => {
    const { missed } = { torchrun, horovod }[name].elastic ?? {};
    expect(exitOf({ code: 1, stderr, ...(missed && { missed }) })).toMatchObject({ missedMeeting });
    expect(exitOf({ code: 1, stderr })).not.toHaveProperty("missedMeeting");
    expect(exitOf({ code: 0, stderr, ...(missed && { missed }) })).not.toHaveProperty("missedMeeting");
  });

  it("says nothing of it by what it had said before its last line, nor where its framework needs all", () => {
    const { missed } = horovod.elastic ?? {};
    const stderr = "tony-ts: the others are done\nValueError\n";
    expect(exitOf({ code: 1, stderr, ...(missed && { missed }) })).not.toHaveProperty("missedMeeting");
    expect(pytorch.elastic).toBeUndefined();
  });
});

describe("how a program ended", () => {
  it("is its exit code and when", () => {
    expect(exitOf({ code: 3 })).toMatchObject({ exitCode: 3, signal: "", atMs: 5, peakMemoryBytes: 7 });
  });

  it.each([
    ["itself", { signal: "SIGSEGV" as const }, "SIGSEGV", 139, false],
    ["a shell that ran it", { code: 137 }, "SIGKILL", 137, true],
  ])("is the signal, told by %s", (_by, end, signal, exitCode, signalOfChild) => {
    expect(exitOf(end)).toMatchObject({ signal, exitCode, signalOfChild });
  });

  it("is not the exception that it caught and wrote down, after which it went on and exited otherwise", () => {
    const caught = traceback("ModuleNotFoundError: No module named 'apex'");
    const uncaught = { traceback: caught.trim(), errorSummary: "ModuleNotFoundError: No module named 'apex'" };
    const said = { errorSummary: "", saidBefore: uncaught.errorSummary };
    expect(exitOf({ code: 3, stderr: `${caught}loss is nan\n` })).toMatchObject({ traceback: "", errorSummary: "" });
    expect(exitOf({ code: 1, stderr: caught })).toMatchObject(uncaught);
    expect(exitOf({ code: 1, stderr: caught })).not.toHaveProperty("saidBefore");
    // Python ends with 1 by an exception, and with nothing else.
    expect(exitOf({ code: 7, stderr: caught })).toMatchObject(said);
    expect(exitOf({ code: 2, stderr: "/usr/bin/python3: No module named ray\n" }).errorSummary).toBe("");
    expect(exitOf({ code: 1, stderr: `${caught}going on without it\ncannot reach the store\n` })).toMatchObject(said);
  });

  it.each([
    "[rank0]:[W1126 03:44:05.123 ProcessGroupNCCL.cpp:1538] Warning: destroy_process_group() was not called",
    "/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: 1 leaked semaphore object",
    "wandb: Synced 5 files",
    "W1126 03:44:05.123 1 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 7 closing signal",
  ])("is its exception, also where a library writes at the end of the process: %s", (line) => {
    expect(exitOf({ code: 1, stderr: `${traceback("ValueError: bad")}${line}\n` })).toMatchObject({
      errorSummary: "ValueError: bad",
    });
  });

  it("is told with what its exception followed from", () => {
    const chained = (words: string) =>
      `${traceback("OSError: [Errno 28] No space left on device")}\n${words}\n\n${traceback("RuntimeError: not saved")}`;
    const cause = "The above exception was the direct cause of the following exception:";
    const context = "During handling of the above exception, another exception occurred:";
    const error = "OSError: [Errno 28] No space left on device";
    for (const [words, how] of [
      [cause, "cause"],
      [context, "context"],
    ] as const) {
      const exit = exitOf({ code: 1, stderr: chained(words) });
      expect(exit).toMatchObject({ errorSummary: "RuntimeError: not saved", errorOrigin: { how, error } });
      expect(exit.traceback).toContain(error);
    }
    const longer = `${chained(cause)}\n${cause}\n\n${traceback("SystemError: giving up")}`;
    const prefixed = longer.replace(/^/gm, "[rank0]: ");
    for (const stderr of [longer, prefixed]) {
      expect(exitOf({ code: 1, stderr })).toMatchObject({
        errorSummary: "SystemError: giving up",
        errorOrigin: { how: "cause", error },
      });
    }
    expect(
      exitOf({ code: 1, stderr: `${traceback("KeyError: 1")}\n${traceback("ValueError: 2")}` }),
    ).not.toHaveProperty("errorOrigin");
  });

  it("is told with what the child said that its exception only says has failed, where that was the last", () => {
    const child = traceback("json.decoder.JSONDecodeError: Expecting value");
    const failed = traceback("subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.");
    const errorOrigin = { how: "child", error: "json.decoder.JSONDecodeError: Expecting value" };
    expect(exitOf({ code: 1, stderr: child + failed })).toMatchObject({ errorOrigin });
    const elastic = traceback("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ");
    for (const launcher of [
      "E1126 03:44:05.123 1 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1)\n",
      "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 (pid: 7)\n",
      "[2024-01-05 03:44:05,123] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1)\n",
    ])
      expect(exitOf({ code: 1, stderr: child.replace(/^/gm, "[rank0]: ") + launcher + elastic })).toMatchObject({
        errorOrigin,
      });
    expect(exitOf({ code: 1, stderr: `${child}trying another\n${failed}` })).not.toHaveProperty("errorOrigin");
  });

  describe("that was stopped for another's failure", () => {
    const stopReason = { code: "generation-ended" as const, why: "worker:0 failed" };
    const lastWords = (text: string) => ({ text, writtenAtMs: 4_000 });
    const failed = traceback("ValueError: label 17");

    it("had failed before, where its exception was the last that it had written by then", () => {
      const said = { signal: "SIGTERM" as const, stderr: failed, stopReason };
      expect(exitOf({ ...said, lastWords: lastWords(failed) })).toMatchObject({
        ...{ errorSummary: "ValueError: label 17", failedAtMs: 4_000, traceback: failed.trim() },
        peerConnectionLost: false,
      });
      const lost = traceback("ConnectionResetError: Connection closed by peer");
      expect(exitOf({ ...said, lastWords: lastWords(lost) }).peerConnectionLost).toBe(true);
    });

    it.each([
      ["it wrote that when it was stopped", ""],
      ["it went on", `${failed}epoch 3\n`],
    ])("had not, where %s", (_case, text) => {
      const exit = exitOf({ signal: "SIGTERM", stderr: failed, stopReason, lastWords: lastWords(text) });
      expect(exit).toMatchObject({ errorSummary: "", traceback: "", peerConnectionLost: false });
    });
  });

  it("is found in linear time in an output of any shape", () => {
    const pieces = ["gloo ", "heartbeat timeout ", "Thread 0x", "a", " ", "Traceback (most recent call last):\n", "\n"];
    for (const text of pumped(pieces)) {
      // With the stacks that were asked for, all of it is looked through that ever is.
      const stderr = `Traceback (most recent call last):\n${text}`;
      expect(exitOf({ code: 1, stderr, stacksAsked: true })).toMatchObject({ exitCode: 1, signal: "" });
    }
  });

  it("does not take an exit code above 128 for a signal that ends no program", () => {
    expect(exitOf({ code: 128 + 18 })).toMatchObject({ signal: "", exitCode: 146 });
  });

  describe("a command that could not be run", () => {
    const refusal = "/bin/bash: line 1: pyhton: command not found\n";

    it.each([
      [127, refusal],
      [126, "/bin/bash: line 1: ./train: cannot execute binary file: Exec format error\n"],
      [127, "/bin/bash: Zeile 1: pyhton: Befehl nicht gefunden\n"],
    ])("is seen by bash's exit code %d and its complaint %j", (code, stderr) => {
      expect(exitOf({ code, stderr }).failedToStart).toBe(true);
    });

    it.each([
      ["a program exits 127 by itself", { code: 127 }],
      ["a program complains and exits 127", { code: 127, stderr: "train: no data\n" }],
      ["a later command of a script is missing", { code: 127, stdout: "epoch 1\n", stderr: refusal }],
      ["the same after another program's warning", { code: 127, stderr: `warning: slow disk\n${refusal}` }],
      ["the same after a while", { code: 127, stderr: refusal, startedAtMs: -60_000 }],
      ["the exit code is another", { code: 1, stderr: refusal }],
    ])("is not seen where %s", (_case, end) => {
      expect(exitOf(end).failedToStart).toBe(false);
    });
  });

  it.each([
    ["/usr/bin/python3: No module named ray", "ModuleNotFoundError: No module named 'ray'"],
    [
      "/usr/bin/python3: Error while finding module specification for 'torch.distributed.run' (ModuleNotFoundError: No module named 'torch')",
      "ModuleNotFoundError: No module named 'torch'",
    ],
    ["/usr/bin/python3: No module named ray.__main__; 'ray' is a package and cannot be directly executed", ""],
    ["train.py: No module named here", ""],
  ])("knows what Python says of a module that -m names and it does not have: %s", (line, summary) => {
    expect(exitOf({ code: 1, stderr: `warning: slow\n${line}\n` }).errorSummary).toBe(summary);
    expect(exitOf({ code: 0, stderr: line }).errorSummary).toBe("");
  });

  it("says why nothing could be started at all", () => {
    const startError = { message: "spawn ENOMEM", isSystems: true };
    const end = { exitCode: null, signal: null, atMs: 5, startError };
    expect(exitOf({ end })).toMatchObject({
      exitCode: 1,
      failedToStart: true,
      refusedBySystem: true,
      errorSummary: "spawn ENOMEM",
      lastLines: [],
    });
  });

  it("is not laid to the operating system when the program itself cannot be run", () => {
    const startError = { message: "venv/bin/python is a directory", isSystems: false };
    const end = { exitCode: null, signal: null, atMs: 5, startError };
    expect(exitOf({ end })).toMatchObject({ failedToStart: true, refusedBySystem: false });
  });

  describe("its last lines", () => {
    it("are the errors', and before them the output's as far as there is room", () => {
      expect(exitOf({ code: 1, lines: 3, stdout: "a\nb\nc\n", stderr: "x\ny\n" }).lastLines).toEqual(["c", "x", "y"]);
      expect(exitOf({ code: 1, lines: 1, stdout: "a\n", stderr: "x\ny\n" }).lastLines).toEqual(["y"]);
    });

    it("stand in the order in which they were written, as far as that is known, as in tony-ts logs", () => {
      const before = { stdout: 1_000, stderr: 500 };
      const mark = (stdoutBytes: number, stderrBytes: number) => ({
        ...{ atMs: 0, generation: 1 },
        ...{ stdoutBytes: before.stdout + stdoutBytes, stderrBytes: before.stderr + stderrBytes },
      });
      const [stdout, stderr] = ["step 1\nstep 2\r\nbye\n", "é warning\n\nboom\nlast"];
      const ends = { stdout: before.stdout + 19, stderr: before.stderr + 21 };
      const written = { marks: [mark(0, 11), mark(7, 11), mark(15, 17), mark(19, 21)], ends };
      const { lastLines } = exitOf({ code: 1, stdout, stderr, written });
      expect(lastLines).toEqual(["é warning", "step 1", "step 2", "boom", "bye", "last"]);
      const few = exitOf({ code: 1, lines: 4, stdout, stderr, written }).lastLines;
      expect(few).toEqual(["é warning", "boom", "bye", "last"]);
      const late = exitOf({ code: 1, stdout, stderr, written: { marks: written.marks.slice(-1), ends } });
      expect(late.lastLines).toEqual(["step 1", "step 2", "bye", "é warning", "boom", "last"]);
    });

    it("show a progress bar as it stood in the end", () => {
      expect(exitOf({ code: 1, stderr: "10 %\r50 %\r90 %\r\ndone\n" }).lastLines).toEqual(["90 %", "done"]);
    });

    it("are cut where one is endless", () => {
      expect(exitOf({ code: 1, stdout: "x".repeat(1e5) }).lastLines[0]).toHaveLength(2000);
    });

    it("and its traceback fit into a message, whatever it printed", () => {
      const long = "€".repeat(40_000);
      const stderr = `${"x€".repeat(900)}\n`.repeat(200) + traceback(`ValueError: ${long}`);
      const exit = exitOf({ code: 1, lines: 10_000, stderr });
      const bytes = executorMessage.encode({
        attempt: 1,
        generation: 1,
        body: { type: "child-exited", exit },
      }).length;
      expect(bytes).toBeLessThan(MOST_REQUEST_BYTES);
      expect(exit.lastLines.length).toBeGreaterThan(10);
      expect(exit.errorSummary).toMatch(/^ValueError: €/);
    });
  });

  describe("a lost connection to a peer", () => {
    it.each([
      "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.1]:4711",
      "ConnectionResetError: [Errno 104] Connection reset by peer",
      "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error",
      "RuntimeError: NCCL communicator was aborted on rank 1.",
      "tensorflow.python.framework.errors_impl.UnavailableError: Socket closed",
      "grpc._channel._InactiveRpcError: status = StatusCode.UNAVAILABLE",
      "BrokenPipeError: [Errno 32] Broken pipe",
    ])("is seen in: %s", (exception) => {
      expect(exitOf({ code: 1, stderr: traceback(exception) }).peerConnectionLost).toBe(true);
    });

    it("is not read from what was logged before another exception", () => {
      const stderr = `warning: Connection reset by peer, trying again\n${traceback("ValueError: bad batch")}`;
      expect(exitOf({ code: 1, stderr }).peerConnectionLost).toBe(false);
    });

    it("is read from the last lines of a program without a traceback", () => {
      const stderr =
        "terminate called after throwing an instance of 'gloo::IoException'\n  what(): Connection closed by peer\n";
      expect(exitOf({ signal: "SIGABRT", stderr })).toMatchObject({ traceback: "", peerConnectionLost: true });
    });

    it.each(["ValueError: bad batch", "KeyError: 'peer'", "torch.cuda.OutOfMemoryError: CUDA out of memory"])(
      "is not seen in: %s",
      (exception) => {
        expect(exitOf({ code: 1, stderr: traceback(exception) }).peerConnectionLost).toBe(false);
      },
    );
  });

  describe("a port that was held for it and is taken", () => {
    const lost = { held: [41_000, 41_001], lost: [41_001] };

    it.each([
      "OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 41001): address already in use",
      "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 41000, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
      "RuntimeError: Failed to bind to address [::]:41000; see 'errno' below (current value = '98: Address already in use')",
      'tensorflow.python.framework.errors_impl.UnknownError: {"target_address":"[::]:41000","errno":98}',
    ])("is seen in: %s", (exception) => {
      expect(exitOf({ code: 1, stderr: traceback(exception) }).portTaken).toBe(true);
    });

    it.each([
      "OSError: [Errno 98] Address already in use",
      "java.net.BindException: Address already in use (Bind failed)",
    ])("is believed of an error that names none where one is another's: %s", (exception) => {
      const stderr = traceback(exception);
      expect(exitOf({ code: 1, stderr, ports: lost }).portTaken).toBe(true);
      expect(exitOf({ code: 1, stderr }).portTaken).toBe(false);
    });

    it("is read from the last lines of a program without a traceback", () => {
      const stderr = "node:events:497\nError: listen EADDRINUSE: address already in use :::41000\nNode.js v22.1.0\n";
      expect(exitOf({ code: 1, stderr }).portTaken).toBe(true);
    });

    it("is read from TensorBoard's words, which have no errno", () => {
      const stderr = "ERROR: TensorBoard could not bind to port 41000, it was already in use\n";
      expect(exitOf({ code: 255, stderr }).portTaken).toBe(true);
    });

    it.each([
      ["the port is another, which the program chose", "Error: listen EADDRINUSE: address already in use :::8080"],
      ["the error is another", "OSError: [Errno 99] Cannot assign requested address"],
      ["it names the port and nothing else", "ConnectionRefusedError: 127.0.0.1:41000"],
    ])("is not claimed where %s", (_case, stderr) => {
      expect(exitOf({ code: 1, stderr }).portTaken).toBe(false);
    });

    it("is not claimed of what was only logged, by a program that ended well", () => {
      expect(exitOf({ code: 0, stderr: "41000: Address already in use, using another" }).portTaken).toBe(false);
    });
  });

  describe("out of memory", () => {
    const full = { ...fits, lastSampleBytes: 0.96 * 1024 * MIB };
    const killedByKernel = { ...fits, killsBefore: 4, killsAfter: 5 };

    it.each([
      ["the kernel has killed for memory in the cgroup", { signal: "SIGKILL" as const, memory: killedByKernel }],
      ["it was killed and its last sample was at the limit", { signal: "SIGKILL" as const, memory: full }],
      ["a shell tells the same of what it ran", { code: 137, memory: full }],
    ])("is claimed when %s", (_evidence, end) => {
      expect(exitOf(end).outOfMemory).toBe(true);
    });

    it.each([
      ["it raised an exception of its own with its memory nearly full", { code: 1, memory: full }],
      ["it crashed with its memory nearly full", { signal: "SIGSEGV" as const, memory: full }],
      [
        "it was killed where nothing enforces a limit",
        { signal: "SIGKILL" as const, memory: { ...full, limitBytes: undefined } },
      ],
      ["killed without evidence", { signal: "SIGKILL" as const }],
      ["the kernel killed another process of the cgroup", { code: 1, memory: killedByKernel }],
      ["the cgroup tells nothing", { signal: "SIGKILL" as const, memory: { ...fits, killsBefore: undefined } }],
      ["it ended well", { code: 0, memory: full }],
      [
        "we stopped it",
        {
          signal: "SIGKILL" as const,
          memory: full,
          stopReason: { code: "generation-ended" as const, why: "worker:1 failed" },
        },
      ],
    ])("is not claimed when %s", (_case, end) => {
      expect(exitOf(end).outOfMemory).toBe(false);
    });
  });

  it("blames a program that we stopped for nothing it said on the way out", () => {
    const stderr = traceback("KeyboardInterrupt");
    expect(
      exitOf({ code: 1, stderr, stopReason: { code: "generation-ended" as const, why: "worker:1 failed" } }),
    ).toMatchObject({
      stopReason: { code: "generation-ended" as const, why: "worker:1 failed" },
      traceback: "",
      peerConnectionLost: false,
      failedToStart: false,
    });
  });
});
