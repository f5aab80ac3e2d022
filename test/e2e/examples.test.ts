import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { TrialsJson } from "../../client/printed-json.ts";
import { testCluster } from "../support/cluster.ts";
import { exampleJob } from "../support/examples.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** The jobs under examples/, run as their readers run them; those that need packages of their own are in environments/. */
describe("the examples", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("hello: every task says who it is", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", exampleJob("hello"), "--logs", "all");
    expect(stdout).toMatch(/^worker:0 \| hello from worker:0, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toMatch(/^worker:1 \| hello from worker:1, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toContain("SUCCEEDED");
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);
  });

  test("digits: two workers train a network with nothing but Python's standard library", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", exampleJob("digits"), "--logs", "all");
    for (const rank of [0, 1]) expect(stdout).toMatch(new RegExp(`^worker:${rank} \\| worker ${rank} of 2$`, "m"));
    const shares = Array.from(stdout.matchAll(/^worker:0 \| epoch \d\/5 .* test accuracy ([\d.]+) %/gm), ([, share]) =>
      Number(share),
    );
    expect(shares).toHaveLength(5);
    expect(shares.at(-1)).toBeGreaterThan(90);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);
    const [id = ""] = stdout.split(" ");
    expect(await alice.json("status", id)).toMatchObject({ status: { checkpoint: { step: 500 } } });
  });

  test("search-digits: of twelve trials the best ones read digits", async () => {
    const { exitCode, stdout } = await alice.run("search", "--conf", exampleJob("search-digits"));
    const best = Number(/^trial .*\n\S+ +\S+ +([\d.]+) /m.exec(stdout)?.[1]);
    expect(best).toBeGreaterThan(0.9);
    const ended = Number(/SUCCEEDED +12 trials: (\d+) completed/.exec(stdout)?.[1]);
    expect(ended).toBeGreaterThan(4);
    expect(stdout).toMatch(/best so far: accuracy [\d.]+ of trial \d+ \(hidden=\d+ rate=[\d.e-]+ momentum=[\d.]+\)/);
    expect(exitCode).toBe(0);
    // What is kept of it is what was told at its end.
    const [id = ""] = stdout.split(" ");
    const { trials }: TrialsJson = JSON.parse((await alice.run("trials", id, "--json")).stdout);
    expect(trials.filter(({ state }) => state === "completed")).toHaveLength(ended);
  });

  test("generic: three programs that know each other by their command alone connect each to each", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", exampleJob("generic"), "--logs", "all");
    for (const index of [0, 1, 2]) {
      expect(stdout).toContain(`worker:${index} | worker:${index} heard worker:0, worker:1, worker:2`);
    }
    expect(exitCode).toBe(0);
  });
});
