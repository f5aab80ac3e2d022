import { appendFileSync, fstatSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { earlierLogs, openOutputFiles, outputLogs } from "../../../executor/output/output-files.ts";
import { Program } from "../../../executor/program/program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

test("a program whose output is closed again and again while it writes loses no line, and its last ones are reported", async () => {
  const logs = outputLogs({ logFolder: folder.path, logPrefix: "" });
  const lines = 20_000;
  // However slow this process is, it closes the output once for each 5,000 lines at least.
  const closed = '$(ls "$MARK" | grep -c "^stdout\\.")';
  const wait = `if ((i % 5000 == 0)); then until [ ${closed} -ge $((i / 5000)) ]; do sleep 0.01; done; fi`;
  const program = new Program({
    command: `for ((i = 1; i <= ${lines}; i++)); do echo "line $i"; ${wait}; done`,
    environments: [{ PATH: process.env.PATH ?? "", MARK: folder.path }],
    marker: `MARK=${folder.path}`,
    logs,
    nowMs: Date.now,
  });
  const limits = { maxBytes: 10_000, maxFiles: 1_000 };
  let isOver = false;
  void program.ended.then(() => (isOver = true));
  while (!isOver) {
    await logs.stdout.rotate(limits, (work) => program.tree.whileStopped(work));
    await nextTurn();
  }

  expect(readdirSync(folder.path).filter((name) => name.startsWith("stdout.")).length).toBeGreaterThan(2);
  let text = "";
  while (text.length < logs.stdout.sizeBytes) text += logs.stdout.read(text.length, 1_000_000).toString();
  expect(text).toBe(Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join(""));
  expect(program.output.tail("stdout").endsWith(`line ${lines - 1}\nline ${lines}\n`)).toBe(true);
  expect(program.output.tail("stdout").length).toBe(131_072);
});

test("the last lines of a run are its own, not those of the run before", () => {
  const logs = outputLogs({ logFolder: folder.path, logPrefix: "" });
  writeFileSync(logs.stdout.file, "of the run before\n");
  const files = openOutputFiles(logs);
  appendFileSync(logs.stdout.file, "of this run\n");
  expect([files.tail("stdout"), files.tail("stderr")]).toEqual(["of this run\n", ""]);
  files.close();
});

test("the last 131,072 bytes of a run are its last lines, without the rest of a character at their front", () => {
  const files = openOutputFiles(outputLogs({ logFolder: folder.path, logPrefix: "" }));
  writeFileSync(files.stderr, `${"é".repeat(65_537)}x`);
  expect(files.tail("stderr")).toBe(`${"é".repeat(65_535)}x`);
  files.close();
});

test("nothing is known of the last lines of a run whose output somebody has removed", () => {
  const logs = outputLogs({ logFolder: folder.path, logPrefix: "" });
  const files = openOutputFiles(logs);
  writeFileSync(files.stdout, "printed\n");
  rmSync(logs.stdout.file);
  expect([files.tail("stdout"), files.writtenAtMs("stdout")]).toEqual(["", undefined]);
  files.close();
});

test("each stream of a run was last written to at a time of its own, in whole milliseconds", () => {
  const logs = outputLogs({ logFolder: folder.path, logPrefix: "" });
  const files = openOutputFiles(logs);
  utimesSync(logs.stdout.file, 1.25, 1.2509);
  utimesSync(logs.stderr.file, 9, 5);
  expect([files.writtenAtMs("stdout"), files.writtenAtMs("stderr")]).toEqual([1_250, 5_000]);
  files.close();
});

test("a run that is over holds neither of its files open", () => {
  const files = openOutputFiles(outputLogs({ logFolder: folder.path, logPrefix: "" }));
  files.close();
  for (const descriptor of [files.stdout, files.stderr]) expect(() => fstatSync(descriptor)).toThrow("EBADF");
});

test("a container's files are named by their streams, behind the name of a task that came later", () => {
  const names = (logPrefix: string) =>
    Object.values(outputLogs({ logFolder: "/logs", logPrefix })).map(({ file }) => file);
  expect(names("")).toEqual(["/logs/stdout", "/logs/stderr", "/logs/output.index", "/logs/executor.log"]);
  expect(names("prep-0.")[3]).toBe("/logs/prep-0.executor.log");
});

test("of a later task that has printed nothing another task's output is not taken", () => {
  writeFileSync(path.join(folder.path, "stdout"), "of the first\n");
  writeFileSync(path.join(folder.path, "trainer-0.stdout"), "");
  expect(earlierLogs(folder.path, "trainer:0").stdout.file).toBe(path.join(folder.path, "trainer-0.stdout"));
  expect(earlierLogs(folder.path, "prep:0").stdout.file).toBe(path.join(folder.path, "stdout"));
});
