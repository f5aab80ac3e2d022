import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, realpathSync, symlinkSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "@jest/globals";
import { logPrefixOf, NEXT_EXECUTOR } from "../../../src/job/launch/container-names.ts";
import {
  executorVariables,
  launchCommand,
  MACHINE,
  nextExecutorScript,
  PROGRAM_MARKER,
} from "../../../src/job/launch/launch-command.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";
import { TestContainer } from "../../support/container.ts";
import { eventually } from "../../support/eventually.ts";
import { anExecutorLaunch } from "../../support/executor-launch.ts";
import { processesWith } from "../../support/processes.ts";

const command = launchCommand({ node: "node", bundle: "executor.cjs", files: [] });

describe("the command of a container", () => {
  let container: TestContainer;

  beforeEach(() => {
    container = new TestContainer();
    container.place("executor.cjs", "");
  });

  afterEach(() => container.remove());

  it("runs the bundle by the shipped runtime; its output is the executor's log, its exit code the container's", async () => {
    container.place("node", '#!/bin/bash\necho "started ${@: -1}"\necho "a warning" >&2\nexit 7\n');
    container.start(command);
    expect(await container.ended()).toBe(7);
    expect(container.log("executor.log")).toBe("started executor.cjs\n");
    expect(container.log("stderr")).toBe("a warning\n");
  });

  it("gives a file all of its names, of which YARN has made one link", async () => {
    const file = (link: string, url = "hdfs://nn:8020/a $b.txt"): ShippedFile => ({
      ...{ link, url, sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "PRIVATE" },
    });
    container.place("node", "#!/bin/bash\ncat one 'two $2' three\n[ -e other ] || echo none\n");
    container.place("fetched", "content\n");
    symlinkSync(path.join(container.work, "fetched"), path.join(container.work, "two $2"));
    const files = [file("one"), file("two $2"), file("three"), file("other", "hdfs://nn:8020/other")];
    container.start(launchCommand({ node: "node", bundle: "executor.cjs", files }));
    expect(await container.ended()).toBe(0);
    expect(container.log("executor.log")).toBe("content\ncontent\ncontent\nnone\n");
  });

  it("starts the next task's executor where the first one has made room, with its own variables and log files", async () => {
    container.place(
      "node",
      '#!/bin/bash\necho "$TONY_TASK $TONY_TENSORBOARD $OTHER"\necho "a warning" >&2\n[ "$TONY_TASK" = prep:0 ] && exit 78\nexit 3\n',
    );
    const next = { ...anExecutorLaunch, task: "trainer:0", tensorBoard: false, logPrefix: logPrefixOf("trainer:0") };
    container.place(NEXT_EXECUTOR, nextExecutorScript({ ...executorVariables(next), OTHER: "not taken" }));
    container.start(command, { TONY_TASK: "prep:0", TONY_TENSORBOARD: "true", OTHER: "kept" });
    expect(await container.ended()).toBe(3);
    const logs = ["executor.log", "stderr", "trainer-0.executor.log", "trainer-0.stderr"];
    expect(logs.map((name) => container.log(name))).toEqual([
      "prep:0 true kept\n",
      "a warning\n",
      "trainer:0  kept\n",
      "a warning\n",
    ]);
    expect(existsSync(path.join(container.work, NEXT_EXECUTOR))).toBe(false);
  });

  it("starts no other after one that was told to end while it made room", async () => {
    // It ends later than the shell looks after the signal: else the exit is that of a program which the signal ended.
    container.place("node", "#!/bin/bash\ntrap 'sleep 1; exit 78' TERM\necho ready\nwhile :; do sleep 0.1; done\n");
    container.place(NEXT_EXECUTOR, "export TONY_TASK=trainer:0\n");
    container.start(command);
    await eventually("the program runs", () => container.log("executor.log") === "ready\n");
    container.signal("SIGTERM");
    await container.ended();
    expect(container.log("executor.log")).toBe("ready\n");
  });

  it("runs a runtime of the node's own", async () => {
    const runtime = container.place("it's node", "#!/bin/bash\necho here\n");
    container.start(launchCommand({ node: runtime, bundle: "am.cjs", files: [] }));
    expect(await container.ended()).toBe(0);
    expect(container.log("am.log")).toBe("here\n");
  });

  it("runs the runtime of the node's architecture", async () => {
    const machine = execFileSync("uname", ["-m"], { encoding: "utf8" });
    container.place(`node-${machine.trim()}`, "#!/bin/bash\necho fits\n");
    container.place("node-other", "#!/bin/bash\necho other\n");
    container.start(launchCommand({ node: `node-${MACHINE}`, bundle: "am.cjs", files: [] }));
    expect(await container.ended()).toBe(0);
    expect(container.log("am.log")).toBe("fits\n");
  });

  describe("of files that were sent with their hashes", () => {
    const sha256Of = (content: string) => createHash("sha256").update(content).digest("hex");
    const sent = (link: string, content: string): ShippedFile => ({
      link,
      url: `hdfs://nn/cache/sha256/it's $HOME/${link}`,
      sizeBytes: content.length,
      modificationTimeMs: 0,
      type: "FILE",
      visibility: "PUBLIC",
      sha256: sha256Of(content),
    });
    const RUNTIME = "#!/bin/bash\necho runs\n";
    const machine = execFileSync("uname", ["-m"], { encoding: "utf8" }).trim();

    it("runs them when they are what was sent", async () => {
      container.place("node", RUNTIME);
      container.place("it's $(reboot).cache", "compiled");
      const files = [sent("node", RUNTIME), sent("executor.cjs", ""), sent("it's $(reboot).cache", "compiled")];
      container.start(launchCommand({ node: "node", bundle: "executor.cjs", files }));
      expect(await container.ended()).toBe(0);
      expect(container.log("executor.log")).toBe("runs\n");
      expect(container.log("stderr")).toBe("");
    });

    it.each(["node", "executor.cjs", "executor.cjs.cache"])(
      "runs nothing when %s has other content of the same length, and says which file where, with both hashes",
      async (changed) => {
        container.place("node", RUNTIME);
        container.place("executor.cjs.cache", "compiled");
        const files = [sent("node", RUNTIME), sent("executor.cjs", ""), sent("executor.cjs.cache", "compiled")].map(
          (file) => (file.link === changed ? { ...file, sha256: sha256Of("as it was sent") } : file),
        );
        const found = files.map(({ link }) => link).indexOf(changed);
        const content = [RUNTIME, "", "compiled"][found] ?? "";
        container.start(launchCommand({ node: "node", bundle: "executor.cjs", files }));
        expect(await container.ended()).toBe(1);
        expect(container.log("stderr")).toBe(
          `tony-ts: ${changed} on 127.0.0.1 is not the file that was submitted, and is not run: ${realpathSync(container.work)}/${changed} ` +
            `has SHA-256 ${sha256Of(content)}, expected ${sha256Of("as it was sent")}. Remove it there, and the node fetches it again. ` +
            `If other nodes report the same, remove hdfs://nn/cache/sha256/it's $HOME/${changed} and submit again.\n`,
        );
      },
    );

    it("looks at the runtime of the node's own architecture alone", async () => {
      const own = `node-${machine}`;
      container.place(own, RUNTIME);
      container.place("node-other", "it is not what was sent");
      const files = [sent(own, RUNTIME), sent("node-other", "another runtime")];
      container.start(launchCommand({ node: `node-${MACHINE}`, bundle: "executor.cjs", files }));
      expect(await container.ended()).toBe(0);
      expect(container.log("executor.log")).toBe("runs\n");
    });

    it("does not run the runtime of its architecture when that has other content", async () => {
      container.place(`node-${machine}`, RUNTIME);
      const files = [sent(`node-${machine}`, "another runtime")];
      container.start(launchCommand({ node: `node-${MACHINE}`, bundle: "executor.cjs", files }));
      expect(await container.ended()).toBe(1);
      expect(container.log("stderr")).toContain(`node-${machine} on 127.0.0.1 is not the file that was submitted`);
    });
  });

  it("adds nothing to what the program itself says of why it does not start", async () => {
    container.place("node", '#!/bin/bash\necho "tony-ts: this Node is too old" >&2\nexit 1\n');
    container.start(command);
    expect(await container.ended()).toBe(1);
    expect(container.log("stderr")).toBe("tony-ts: this Node is too old\n");
  });

  it("says in one message that a runtime cannot run on this node", async () => {
    container.place("node", "\x7fELF this is for another machine");
    container.start(command);
    expect(await container.ended()).toBe(126);
    expect(container.log("stderr")).toMatch(
      /tony-ts: executor\.cjs could not be started by \.\/node on 127\.0\.0\.1 \(exit 126; \S+, glibc [\d.]+\).* set tony\.node\.binary/,
    );
  });

  it("says so when the runtime is not there", async () => {
    container.start(command);
    expect(await container.ended()).toBe(127);
    expect(container.log("stderr")).toContain("set tony.node.binary");
  });

  it("keeps quiet about the runtime when the program has begun", async () => {
    container.place("node", '#!/bin/bash\necho "{}"\nexit 1\n');
    container.start(command);
    expect(await container.ended()).toBe(1);
    expect(container.log("stderr")).toBe("");
  });

  it("hands TERM on to the program and waits for its end", async () => {
    container.place(
      "node",
      '#!/bin/bash\ntrap "echo stopping; exit 9" TERM\necho ready\nwhile :; do sleep 0.05; done\n',
    );
    const shell = container.start(command);
    await eventually("the program runs", () => container.log("executor.log") === "ready\n");
    shell.kill("SIGTERM");
    expect(await container.ended()).toBe(9);
    expect(container.log("executor.log")).toBe("ready\nstopping\n");
  });

  it("hands on a TERM that comes as soon as the program says a word, however slow the shell is", async () => {
    container.place("node", '#!/bin/bash\nbuiltin trap "exit 9" TERM\necho ready\nwhile :; do sleep 0.05; done\n');
    const slow = container.place("slow-trap", 'trap() { sleep 0.5; builtin trap "$@"; }\n');
    const shell = container.start(command, { BASH_ENV: slow });
    await eventually("the program runs", () => container.log("executor.log") === "ready\n");
    shell.kill("SIGTERM");
    expect(await container.ended()).toBe(9);
  });

  it("kills what the task's program left, in the group or out of it, when the executor is killed", async () => {
    container.place(
      "node",
      `#!/bin/bash
      export ${PROGRAM_MARKER}="$CONTAINER_ID"
      sleep 1000 &
      setsid bash -c 'sleep 1000 & sleep 1001' &
      echo $$
      unset ${PROGRAM_MARKER}
      wait`,
    );
    container.start(command);
    await eventually("the program's processes run", () => processesWith(PROGRAM_MARKER, container.id).length === 4);
    process.kill(Number(container.log("executor.log")), "SIGKILL");
    expect(await container.ended()).toBe(137);
    expect(processesWith(PROGRAM_MARKER, container.id)).toEqual([]);
  });

  it("leaves the programs of other containers alone", async () => {
    const other = new TestContainer(`${container.id}0`);
    try {
      other.place("node", `#!/bin/bash\nexport ${PROGRAM_MARKER}="$CONTAINER_ID"\nexec sleep 1000\n`);
      other.start(command);
      await eventually("the other's program runs", () => processesWith(PROGRAM_MARKER, other.id).length === 1);
      container.place("node", "#!/bin/bash\n");
      container.start(command);
      expect(await container.ended()).toBe(0);
      expect(processesWith(PROGRAM_MARKER, other.id)).toHaveLength(1);
    } finally {
      other.remove();
    }
  });
});

test("an executor's variables carry what it must know before it is connected", () => {
  expect(executorVariables(anExecutorLaunch)).toEqual({
    TONY_TASK: "worker:1",
    TONY_APPLICATION_ID: "application_1_0001",
    TONY_MASTER_ADDRESS: "[::1]:4000",
    TONY_STAGING: JSON.stringify(anExecutorLaunch.staging),
    TONY_MASTER_ATTEMPT: "2",
    TONY_FIRST_GENERATION: "3",
    TONY_ISOLATION_MS: "30000",
    TONY_SECTIONS: JSON.stringify(anExecutorLaunch.sections),
    TONY_PORT_NAMES: "rpc,metrics",
    TONY_TENSORBOARD: "true",
    TONY_CONTAINER_MEMORY_MIB: "1024",
  });
});
