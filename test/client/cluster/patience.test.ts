import { expect, test } from "@jest/globals";
import { briefPatience, configuredPatience, showTrouble } from "../../../client/cluster/patience.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { recordedContext } from "../support.ts";

const prefix = "yarn.resourcemanager.connect";
const patienceOf = (values: Readonly<Record<string, string>>) =>
  configuredPatience(new Configuration().withValues(values));

test("a ResourceManager is asked again as Hadoop's keys say, soon at first", () => {
  expect(patienceOf({})).toEqual({ giveUpAfterMs: 900_000, firstDelayMs: 200, longestDelayMs: 30_000 });
  expect(patienceOf({ [`${prefix}.max-wait.ms`]: "-1", [`${prefix}.retry-interval.ms`]: "50" })).toEqual({
    giveUpAfterMs: Number.POSITIVE_INFINITY,
    firstDelayMs: 50,
    longestDelayMs: 50,
  });
  // Whoever wants no patience at all gets one try.
  expect(patienceOf({ [`${prefix}.max-wait.ms`]: "0", [`${prefix}.retry-interval.ms`]: "0" })).toEqual({
    giveUpAfterMs: 0,
    firstDelayMs: 1,
    longestDelayMs: 1,
  });
});

test("what is waited for is told beside the result, with the key that says how long", () => {
  const { output, err, out } = recordedContext({});
  const trouble = { method: "getApplications", error: new Error("refused"), elapsedMs: 4_000 };
  showTrouble(output, "rm:8032", trouble, patienceOf({}));
  showTrouble(output, "rm:8032", undefined, patienceOf({}));
  expect(err.text).toBe(
    "The ResourceManager at rm:8032 has not answered for 4 s; still trying, for 15 min (yarn.resourcemanager.connect.max-wait.ms): refused\n",
  );
  expect(out.text).toBe("");
});

test("on a terminal it is gone once the ResourceManager has answered", () => {
  const { output, out } = recordedContext({ terminal: true });
  const trouble = { method: "getApplications", error: new Error("refused"), elapsedMs: 999 };
  showTrouble(output, "rm:8032", trouble, patienceOf({}));
  const shown = out.text;
  expect(shown).toContain("The ResourceManager at rm:8032 does not answer; still trying, for 15 min\n");
  showTrouble(output, "rm:8032", undefined, patienceOf({}));
  expect(out.text.slice(shown.length).endsWith("\u001b[J")).toBe(true);
});

test("a wait without an end is told as such, from its first second on with how long it has lasted", () => {
  const { output, err } = recordedContext({});
  const forever = patienceOf({ [`${prefix}.max-wait.ms`]: "-1" });
  showTrouble(output, "rm:8032", { method: "x", error: new Error("silent"), elapsedMs: 1_000 }, forever);
  expect(err.text).toMatch(/ has not answered for 1 s; still trying, without end /);
});

test("who asks again himself gives up after a second, and tells nothing", () => {
  expect(briefPatience).toEqual({ giveUpAfterMs: 1_000, firstDelayMs: 200, longestDelayMs: 500 });
  const { output, err } = recordedContext({});
  showTrouble(output, "rm:8032", { method: "x", error: new Error("refused"), elapsedMs: 0 }, briefPatience);
  expect(err.text).toBe("");
});
