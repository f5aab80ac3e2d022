import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { type FollowEvent, type SubmissionOptions, type SubmittedJob, submit } from "../../client/library.ts";
import { packageRoot } from "../../src/programs.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import { testWhereOpen } from "../support/where-open.ts";

import "../support/loaded-client.ts";

const cluster = await testCluster();
const testInProcess = testWhereOpen(cluster, "one process has one Kerberos ticket, which Jest's own process has not");

const job = (executes: string): SubmissionOptions => ({
  conf: ["tony.application.framework=generic", "tony.worker.instances=1", "tony.worker.memory=512m"],
  executes,
});

/** Its events, each in one word; output as its line. */
async function told(events: AsyncIterable<FollowEvent>): Promise<string[]> {
  const words: string[] = [];
  for await (const event of events) words.push(event.event === "output" ? event.line : event.event);
  return words;
}

describe("jobs that a program submits", () => {
  const alice = new Person(cluster);
  const bob = new Person(cluster, ClusterUser.bob);
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await alice.leave();
    await bob.leave();
  });

  testInProcess(
    "of two users at once tell all their readers their own events; who comes after the end is told how it ended",
    async () => {
      const run = async ({ environment }: Person) => {
        const submitted = await submit(job('echo "I am $USER"; sleep 3'), { environment });
        const [first, second, outcome] = await Promise.all([told(submitted), told(submitted), submitted.ended()]);
        return { submitted, first, second, outcome };
      };
      const [hers, his] = await Promise.all([run(alice), run(bob)]);
      for (const [{ first, second, outcome, submitted }, user] of [
        [hers, ClusterUser.alice],
        [his, ClusterUser.bob],
      ] as const) {
        expect(outcome.result).toBe("succeeded");
        expect(first).toContain(`I am ${user}`);
        expect(second).toEqual(first);
        expect([first[0], first.at(-1)]).toEqual(["job", "end"]);
        expect((await told(submitted)).filter((word) => word !== "remark")).toEqual(["job", "end"]);
      }
    },
  );

  testInProcess(
    "are ended by a signal, whose reason is told, wherever they are; and not by one that comes too late",
    async () => {
      const submitted = async (stop: AbortController) =>
        await submit(job("echo up; sleep 600"), { environment: alice.environment, signal: stop.signal });
      const stops = [new AbortController(), new AbortController()] as const;
      const [early, late] = await Promise.all(stops.map(submitted));
      stops[0].abort();
      for await (const event of late ?? []) if (event.event === "output") stops[1].abort(new Error("enough of it"));
      const outcomeOf = async (ended: SubmittedJob | undefined) => await ended?.ended();
      expect(await outcomeOf(early)).toMatchObject({
        result: "killed",
        summary: expect.stringMatching(/^killed by alice from \S+ \(the program that submitted it\)$/),
      });
      expect(await outcomeOf(late)).toMatchObject({
        result: "killed",
        summary: expect.stringMatching(/ \(the program that submitted it: enough of it\)$/),
      });

      const stop = new AbortController();
      const over = await submit(job("true"), { environment: alice.environment, signal: stop.signal });
      await over.ended();
      stop.abort();
      expect(await over.ended()).toMatchObject({ result: "succeeded" });
    },
  );

  /** Runs a program of alice's own that has `submit`. @returns what it prints */
  async function runProgram(...lines: readonly string[]): Promise<string> {
    const library = path.join(packageRoot(), "dist", "lib", "client", "library.js");
    const program = [`import { submit } from ${JSON.stringify(library)};`, ...lines].join("\n");
    const words = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: alice.environment });
    return stdout;
  }

  test("are followed to their end by a program of its own, as whoever runs it", async () => {
    const printed = await runProgram(
      `const job = await submit(${JSON.stringify(job('echo "I am $USER"'))});`,
      "for await (const event of job) if (event.event === 'output') console.log(event.line);",
      "console.log((await job.ended()).result);",
    );
    expect(printed).toBe(`I am ${ClusterUser.alice}\nsucceeded\n`);
  });

  test("run on without a program that only submits them, which ends", async () => {
    const id = (
      await runProgram(`const { id } = await submit(${JSON.stringify(job("sleep 600"))});`, "console.log(id);")
    ).trim();
    expect(await alice.json("status", id)).toMatchObject({ report: { finalStatus: "UNDEFINED" } });
    expect((await alice.run("kill", id)).exitCode).toBe(0);
  });
});
