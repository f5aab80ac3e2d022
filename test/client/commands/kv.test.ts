import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { kv } from "../../../client/commands/kv.ts";
import type { ClientHandler } from "../../../src/api/client-endpoint.ts";
import type { Result } from "../../../src/job/store/transaction.ts";
import { recordedContext, recordedStreams } from "../support.ts";
import { LocalMachine } from "./local-machine.ts";

async function ran(...words: string[]): Promise<unknown> {
  const parsed = await parseArguments(["kv", "application_1795305600000_0007", ...words], [kv]);
  if ("text" in parsed) throw new Error(parsed.text);
  return await parsed.run(recordedContext({ workingDirectory: process.cwd() }));
}

describe("tony-ts kv", () => {
  test.each([
    [["take", "a"], "kv does get, put, del, list, transact, watch, not take"],
    [["get"], "Which key? kv ID get KEY"],
    [["del"], "Which key? kv ID del KEY"],
    [["put", "a"], "Which value? kv ID put KEY VALUE"],
    [["get", "a", "1"], "kv ID get takes no value"],
    [["list", "a", "1"], "kv ID list takes no value"],
    [["del", "a", "--owner", "worker:0"], "--owner works only with put and transact"],
    [["transact", "{}", "1"], "kv ID transact takes no value"],
    [["watch", "a", "1"], "kv ID watch takes no value"],
    [["list", "--after", "1:8"], "--after works only with watch"],
    [["watch", "--after", "8"], "--after is an attempt and a revision, as watch --json prints them: 1:8, not 8"],
  ])("%j is refused before anybody is asked", async (words, message) => {
    await expect(ran(...words)).rejects.toMatchObject({ message, exitCode: 2 });
  });
});

describe("tony-ts kv of a job that runs", () => {
  let machine: LocalMachine;
  beforeEach(() => {
    machine = new LocalMachine();
  });
  afterEach(() => machine.dispose());

  const entry = { key: "a", value: "1", created: 3, modified: 8, version: 2 } as const;
  /** The answer to every transaction, and what was asked. */
  async function storing(...results: readonly Result[]) {
    const asked: unknown[] = [];
    const transact: ClientHandler["transact"] = async ({ transaction, owner }) => {
      asked.push({ ...transaction, owner });
      return { revision: 8, succeeded: true, results };
    };
    const { id } = await machine.running({}, { clients: { transact } });
    return { id, asked };
  }

  test("get prints the value", async () => {
    const { id, asked } = await storing({ type: "get", entry });
    expect(await machine.run("kv", id, "get", "a")).toEqual({ exitCode: 0, out: "1\n", err: "" });
    expect(await machine.json("kv", id, "get", "a")).toMatchObject({ revision: 8, entry: { key: "a", value: "1" } });
    expect(asked[0]).toMatchObject({ success: [{ type: "get", key: "a" }] });
  });

  test("put prints nothing, and a program reads the revision", async () => {
    const { id, asked } = await storing({ type: "put", before: entry });
    expect(await machine.run("kv", id, "put", "a", "2")).toEqual({ exitCode: 0, out: "", err: "" });
    expect(await machine.json("kv", id, "put", "a", "2")).toEqual({ jsonVersion: 1, revision: 8, replaced: true });
    expect(asked[0]).toMatchObject({ success: [{ type: "put", key: "a", value: "2" }], owner: undefined });
  });

  test("an empty value is one", async () => {
    const { id, asked } = await storing({ type: "put" });
    expect((await machine.run("kv", id, "put", "a", "")).exitCode).toBe(0);
    expect(asked).toMatchObject([{ success: [{ type: "put", key: "a", value: "" }] }]);
  });

  test("del says how many went", async () => {
    const { id, asked } = await storing({ type: "delete", deleted: 1 });
    expect((await machine.run("kv", id, "del", "a")).out).toBe("1\n");
    expect(asked).toMatchObject([{ success: [{ type: "delete", range: { from: "a" } }] }]);
  });

  test.each([
    [[], { from: "" }],
    [["b/"], { from: "b/", to: "b0" }],
  ])("list %j is of the keys that begin so", async (words, range) => {
    const { id, asked } = await storing({ type: "list", entries: [entry], more: false });
    expect((await machine.run("kv", id, "list", ...words)).out).toMatch(/^key +revision .*\na +8 +– +1\n$/);
    expect(asked).toMatchObject([{ success: [{ type: "list", range }] }]);
  });

  const transaction = '{"success": [{"type": "delete", "prefix": "b/"}]}';
  test.each([
    { where: "as a word", words: [transaction], typed: "not read" },
    { where: "on standard input", words: [], typed: transaction },
  ])("transact takes the transaction $where", async ({ words, typed }) => {
    const { id, asked } = await storing({ type: "delete", deleted: 2 });
    machine.streams = recordedStreams({ typed });
    const { exitCode, out } = await machine.run("kv", id, "transact", ...words, "--owner", "worker:0");
    expect([exitCode, JSON.parse(out)]).toEqual([
      0,
      { revision: 8, succeeded: true, results: [expect.objectContaining({ deleted: 2 })] },
    ]);
    expect(asked).toMatchObject([{ success: [{ type: "delete", range: { from: "b/" } }], owner: "worker:0" }]);
  });

  test.each([
    [[], { from: "" }, "8  a  1\n"],
    [["b/", "--after", "1:4"], { from: "b/", to: "b0", after: { attempt: 1, revision: 4 } }, "8  a  1\n"],
    [
      ["b/", "--json"],
      { from: "b/", to: "b0" },
      expect.stringMatching(/^\{"jsonVersion":1,"attempt":1,"revision":8,"changes":\[\{"key":"a",.*\n$/),
    ],
  ])("watch %j prints what changes until the job ends", async (words, wanted, printed) => {
    const asked: object[] = [];
    const watch: ClientHandler["watch"] = async (request, tell) => {
      asked.push(request);
      void tell({ type: "changes", attempt: 1, revision: 8, changes: [{ type: "put", revision: 8, key: "a", entry }] });
      return () => undefined;
    };
    const job = await machine.running({}, { clients: { watch } });
    const watched = machine.start("kv", job.id, "watch", ...words);
    await watched.out.waitFor("\n");
    await job.end("succeeded");
    await job.stop();
    expect(await watched.ended).toEqual({ exitCode: 0, out: printed, err: "" });
    expect(asked).toEqual([{ hello: expect.anything(), ...wanted }]);
  });
});
