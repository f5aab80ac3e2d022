import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { hasEnded } from "../../../client/applications/applications.ts";
import { localFiles, localRoot } from "../../../client/applications/local-folder.ts";
import { variablesOf } from "../../../client/context.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { submitLocally } from "../../../client/submission/local-submission.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import { codeCacheOf } from "../../../src/start/cache-files.ts";
import { recordedContext } from "../support.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-local-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function submission(
  settings: Readonly<Record<string, string>>,
  { stop = new AbortController(), terminal = false }: { stop?: AbortController; terminal?: boolean } = {},
) {
  const environment = {
    PATH: process.env.PATH ?? "",
    XDG_STATE_HOME: folder,
    XDG_CACHE_HOME: path.join(folder, "cache"),
    OPEN: "sesame",
  };
  const context = recordedContext({ environment, workingDirectory: folder, terminal });
  const conf = Object.entries({
    "tony.application.name": "bert",
    "tony.application.framework": "generic",
    "tony.worker.instances": "1",
    "tony.worker.memory": "64m",
    ...settings,
  }).map(([key, value]) => `${key}=${value}`);
  const text = readJob({ conf }, { variables: variablesOf(context) });
  const told: string[] = [];
  const run = (named: (id: string) => void = () => undefined) =>
    submitLocally(
      text,
      checkOffline(text, { kind: "lead" }, context),
      context,
      { named, uploading: () => undefined, uploaded: (line) => told.push(line.trim()) },
      stop.signal,
    );
  return { run, told, stop, root: localRoot(environment), context };
}

const nothing = {
  code: "NOT_SUBMITTED",
  message: "Nothing was submitted, and nothing is left on this machine",
};

describe("a job of this machine that is stopped before it was started", () => {
  test("leaves nothing", async () => {
    const { run, stop, root } = submission({ "tony.worker.command": "true" });
    stop.abort();
    await expect(run()).rejects.toMatchObject(nothing);
    expect(existsSync(root)).toBe(false);
  });

  test("leaves nothing where its folder was made already", async () => {
    const { run, stop, root } = submission({ "tony.worker.command": "true" });
    await expect(run(() => stop.abort())).rejects.toMatchObject(nothing);
    expect(readdirSync(root)).toEqual([]);
  });
});

test("a job of this machine runs on without who submitted it, from files of its own", async () => {
  const sources = path.join(folder, "sources");
  mkdirSync(path.join(sources, ".git"), { recursive: true });
  writeFileSync(path.join(sources, "data.txt"), "data");
  const own = path.join(folder, "own.txt");
  writeFileSync(own, "own");
  const rows = path.join(folder, "rows.txt");
  writeFileSync(rows, "a\n");
  const settings = {
    "tony.worker.command": "python none.py; cat own.txt sources/data.txt > $OUT/done; echo $KEY >> $OUT/done",
    "tony.application.secrets": "KEY=env:OPEN",
    "tony.feed.train.input": `file://${rows}`,
    "tony.feed.train.format": "lines",
    "tony.execution.envs": `OUT=${folder}`,
    "tony.containers.resources": `${sources}#archive`,
    "tony.worker.resources": own,
    "dfs.nameservices": "ns",
  };
  const { run, root, told, context } = submission(settings, { terminal: true });
  const named: string[] = [];
  const { id, spec, applications } = await run((as) => void named.push(as));
  try {
    const job = path.join(root, id);
    expect([named, told]).toEqual([[id], ["sources: 1 file, 4 B; left out: .git"]]);
    expect(spec).toMatchObject({ name: "bert", roles: [{ name: "worker", instances: 1 }] });
    // Once: the programs that were compiled are kept for all later jobs.
    const { text } = context.out;
    expect(text).toMatch(/^Preparing the programs for this machine's Node, once: their later starts are quicker\n/);
    expect(text.endsWith("A\r\u001b[J")).toBe(true);
    expect(context.err.text).toMatch(/warning: tony\.worker\.command hides a program.s failure/);
    const file: unknown = JSON.parse(readFileSync(path.join(job, "job.json"), "utf8"));
    expect(file).toMatchObject({
      applicationId: id,
      hadoop: { "dfs.nameservices": "ns" },
      feeds: { train: expect.anything() },
      files: {
        all: expect.arrayContaining([
          expect.objectContaining({ link: codeCacheOf("executor.cjs"), url: `file://${job}/executor.cjs.cache` }),
          expect.objectContaining({ link: "executor.cjs", url: `file://${job}/executor.cjs` }),
          expect.objectContaining({ link: "sources", type: "ARCHIVE", url: `file://${job}/0-sources.tar.gz` }),
        ]),
        byRole: { worker: [expect.objectContaining({ link: "own.txt", url: `file://${own}` })] },
      },
    });
    for (const own of [job, path.join(job, "am")]) expect(statSync(own).mode & 0o777).toBe(0o700);
    for (const name of ["job.json", "client.json", "tony-final.xml"])
      expect(statSync(path.join(job, name)).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.join(job, "am"))).toEqual(expect.arrayContaining(["am.cjs", codeCacheOf("am.cjs")]));
    // It leads a session of its own: signals to the client's do not reach it.
    const pid = readFileSync(path.join(job, localFiles.pid), "utf8");
    const [, session] = /\) \S+ \d+ \d+ (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    expect(session).toBe(pid);
    let report = await applications.report(id);
    for (; !hasEnded(report); report = await applications.report(id)) await sleep(100);
    expect(report).toMatchObject({ name: "bert", finalStatus: "SUCCEEDED" });
    expect(readFileSync(path.join(folder, "done"), "utf8")).toBe("owndatasesame\n");
  } finally {
    await applications.kill(id, "the test is over");
    applications.close();
  }
});
