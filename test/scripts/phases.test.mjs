import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { phases } from "../../scripts/test/phases.mjs";

/** What a file of tests says that has to be on the machine. */
const SIGNS = /** @type {const} */ ({ pytorch: 'pythonWith("torch")', chromium: "support/chromium.ts" });

const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => ({ name: `test/${name}`, text: readFileSync(`test/${name}`, "utf8") }));

/** @param {import("../../scripts/test/phase.mjs").Phase} phase */
function filesOf({ command }) {
  const pattern = command.at(command.indexOf("--testPathPatterns") + 1);
  return command.includes("cluster") && pattern !== undefined
    ? files.filter(({ name }) => new RegExp(pattern).test(name))
    : [];
}

describe("a suite that is run alone", () => {
  test.each(Object.entries(SIGNS))("has %s on its machine where one of its files asks for it", (wanted, sign) => {
    const asking = phases.filter((phase) => filesOf(phase).some(({ text }) => text.includes(sign)));
    expect(asking.length).toBeGreaterThan(1);
    const without = asking.filter(({ machine = [] }) => !machine.some((one) => one === wanted));
    expect(without.map(({ name }) => name)).toEqual([]);
  });
});
