import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { JobHistory } from "../../../am/storage/history.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { pageKeyFile } from "../../../src/history/layout.ts";
import { tonyFinalXml } from "../../../src/history/tony/final-xml.ts";
import { HistoryWriter } from "../../../src/history/writer.ts";
import { SHOWN_EVENTS } from "../../../src/page/live-answer.ts";
import { aJobStatus, allSucceeded } from "../../client/job-status.ts";
import { deferred } from "../../support/deferred.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const root = temporaryFolder();

const applicationId = "application_1_0001";
const fileOfHistory = () => path.join(root.path, "intermediate", applicationId, "events.jsonl.inprogress");

const onThisMachine = new FileSystems({
  configuration: new Configuration(),
  credentials: simpleCredentials({ name: "ada" }),
});

interface HistoryOptions {
  readonly page?: boolean;
  readonly warned?: (message: string) => void;
  readonly fileSystems?: Pick<FileSystems, "locate">;
  readonly containerEnvironment?: Readonly<Record<string, string>>;
}

function historyOf(
  attempt: number,
  { page = true, warned = () => {}, fileSystems = onThisMachine, containerEnvironment = {} }: HistoryOptions = {},
): JobHistory {
  const spec = aJobSpec({ containerEnvironment });
  const history = { location: `file://${root.path}`, timeZone: "UTC" };
  const job = { applicationId, user: "ada", stagingUrl: `file://${root.path}/staging`, spec: { ...spec, history } };
  return new JobHistory(
    { ...job, spec: { ...job.spec, am: { ...spec.am, page } } },
    {
      fileSystems,
      attempt,
      local: false,
      atMs: 1,
      log: { ...silentLog, warn: (_event, message) => warned(message) },
    },
  );
}

/** The folder of her jobs' last statuses is ada's. */
class OfAda extends LocalFileSystem {
  override async stat(at: string) {
    const status = await super.stat(at);
    return at.endsWith("/history-ada") ? { ...status, owner: "ada" } : status;
  }
}

type Added = Pick<JobHistory, "add">;
function tell(history: Added, ...times: readonly number[]): void {
  for (const atMs of times) history.add({ record: "event", type: "recovered", containers: 1, atMs, generation: 1 });
}
const times = (history: JobHistory) => history.lastEvents.map(({ atMs }) => atMs);

/** What an ApplicationMaster has written that is no more. */
async function left(attempt: number, ...times: readonly number[]): Promise<void> {
  const folder = path.dirname(fileOfHistory());
  const fileSystem = new LocalFileSystem();
  const makeFolder = () => fileSystem.mkdirs(folder, 0o750);
  const writer = new HistoryWriter({ fileSystem, folder, makeFolder, attempt, warn: () => {} });
  tell(writer, ...times);
  await writer.flush();
}

test("a later ApplicationMaster shows what earlier ones have written last, before its own", async () => {
  await left(1, 1, 2);
  await left(2, 3);
  const pageless = historyOf(3, { page: false });
  const third = historyOf(3);
  tell(third, 4);
  await eventually("the earlier events", () => third.lastEvents.length === 4);
  expect(times(third)).toEqual([1, 2, 3, 4]);
  expect([times(historyOf(1)), times(pageless)]).toEqual([[], []]);
});

test("it shows as many as the page does, of a history of any length", async () => {
  const first = historyOf(1);
  tell(first, ...Array.from({ length: 1_000 }, (_none, index) => index));
  expect(times(first)).toEqual(Array.from({ length: SHOWN_EVENTS }, (_none, index) => 1_000 - SHOWN_EVENTS + index));

  await left(1, ...Array.from({ length: 1_000 }, (_none, index) => index));
  const second = historyOf(2);
  tell(second, 1_000);
  await eventually("the earlier events", () => second.lastEvents.length === SHOWN_EVENTS);
  expect(times(second)).toEqual(Array.from({ length: SHOWN_EVENTS }, (_none, index) => 1_001 - SHOWN_EVENTS + index));
});

test("it says where they cannot be read, and goes on with its own", async () => {
  await left(1, 1);
  appendFileSync(fileOfHistory(), "no record\n");
  const said: string[] = [];
  const second = historyOf(2, { warned: (message) => said.push(message) });
  await eventually("a word of it", () => said.length > 0);
  expect(said).toEqual([expect.stringContaining("A file of the job's history cannot be read: ")]);
  tell(second, 2);
  expect(times(second)).toEqual([2]);
});

test("a job that runs has its beginning there, the key of its page, and its settings where its client left them", async () => {
  const folder = path.join(root.path, "intermediate", applicationId);
  const named = () => (existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : []);
  mkdirSync(path.join(root.path, "staging"));
  writeFileSync(path.join(root.path, "staging", tonyFinalXml), "<configuration/>");
  historyOf(1).begin(aJobStatus(), "the page's key");
  await eventually("the settings", () => named().includes(tonyFinalXml));
  expect(readFileSync(path.join(folder, tonyFinalXml), "utf8")).toBe("<configuration/>");
  expect(readFileSync(path.join(folder, pageKeyFile), "utf8")).toBe("the page's key");
  expect(named().some((name) => name.endsWith(".jhist.inprogress"))).toBe(true);
});

test("what others can read there shows which variables a job sets, and not to what", async () => {
  const fileSystems = { locate: (url: string) => ({ fileSystem: new OfAda(), path: new URL(url).pathname }) };
  const history = historyOf(1, { fileSystems, containerEnvironment: { API_KEY: "hush" } });
  const outcome = { ...allSucceeded, endedAtMs: 1_795_309_200_000 };
  await history.close(aJobStatus({ outcome }), { useOf: () => undefined, encodeSeries: async () => Buffer.of(1) });
  const folder = path.join(root.path, "finished/2026/11/22", applicationId);
  const events = readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "";
  const text = readFileSync(path.join(folder, events), "utf8");
  expect(text).toContain("API_KEY");
  expect(text).not.toContain("hush");
});

test("a folder that somebody else has made before gets nothing of the job, and nothing in it is shown", async () => {
  class OfBob extends LocalFileSystem {
    override async stat(at: string) {
      return { ...(await super.stat(at)), owner: at.endsWith(applicationId) ? "bob" : "ada" };
    }
    // The folder above has the sticky bit.
    override async rename(from: string, to: string, options = {}) {
      if (!from.endsWith(applicationId)) return await super.rename(from, to, options);
      throw new FileSystemError("Permission denied", { code: "ACCESS_DENIED" });
    }
  }
  await left(1, 1);
  const folder = path.dirname(fileOfHistory());
  const before = readFileSync(fileOfHistory(), "utf8");
  const said: string[] = [];
  const fileSystems = { locate: (url: string) => ({ fileSystem: new OfBob(), path: new URL(url).pathname }) };
  const second = historyOf(2, { warned: (message) => said.push(message), fileSystems });
  second.begin(aJobStatus(), "the page's key");
  const outcome = { ...allSucceeded, endedAtMs: 2 };
  await second.close(aJobStatus({ outcome }), { useOf: () => undefined, encodeSeries: async () => Buffer.of(1) });
  expect(readdirSync(folder)).toEqual(["events.jsonl.inprogress"]);
  expect(readFileSync(fileOfHistory(), "utf8")).toBe(before);
  expect(times(second)).toEqual([]);
  expect(said.every((message) => message.includes("belongs to bob"))).toBe(true);
});

test("of a job that ends while its beginning is still being written, nothing says that it runs", async () => {
  const { promise: held, resolve: goOn } = deferred();
  class Slow extends OfAda {
    override async create(file: string, content: Uint8Array, options: { permission: number }) {
      if (file.endsWith(".jhist.inprogress")) await held;
      await super.create(file, content, options);
    }
  }
  const fileSystems = { locate: (url: string) => ({ fileSystem: new Slow(), path: new URL(url).pathname }) };
  const history = historyOf(1, { fileSystems });
  history.begin(aJobStatus(), "the page's key");
  const outcome = { ...allSucceeded, endedAtMs: 2 };
  const closed = history.close(aJobStatus({ outcome }), {
    useOf: () => undefined,
    encodeSeries: async () => Buffer.of(1),
  });
  await eventually("the last status", () =>
    existsSync(path.join(root.path, "history-ada", `${aJobStatus().applicationId}.json`)),
  );
  goOn();
  await closed;
  expect(readdirSync(path.join(root.path, "intermediate"))).toEqual([]);
  const left = readdirSync(path.join(root.path, "finished/1970/01/01", applicationId)).sort();
  expect(left.map((name) => name.replace(/^.*\./, ""))).toEqual(["jhist", "jsonl", "gz"]);
});
