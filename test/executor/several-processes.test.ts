import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { outputLogs } from "../../executor/output/output-files.ts";
import { Program } from "../../executor/program/program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-processes-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Two processes, whose RANK is 0 and 1. */
function twoProcesses(command: string): Program {
  const environment = (rank: number) => ({ PATH: process.env.PATH ?? "", MARK: folder, RANK: String(rank) });
  return new Program({
    command,
    environments: [environment(0), environment(1)],
    marker: `MARK=${folder}`,
    logs: outputLogs({ logFolder: folder, logPrefix: "" }),
    nowMs: Date.now,
  });
}

describe("a program of two processes", () => {
  test("has ended when both have", async () => {
    const program = twoProcesses(
      '[ "$RANK" = 1 ] && until [ -e "$MARK/first" ]; do sleep 0.02; done; touch "$MARK/first"; echo "rank $RANK"',
    );
    expect((await program.ended).exitCode).toBe(0);
    expect(program.output.tail("stdout").trim().split("\n").sort()).toEqual(["rank 0", "rank 1"]);
  });

  test("fails as the first of them that fails, and the other is ended with what it left", async () => {
    const program = twoProcesses('[ "$RANK" = 0 ] && exec sleep 600; exit 7');
    expect((await program.ended).exitCode).toBe(7);
    expect(program.processNames()).toEqual(["sleep"]);
    expect(await program.clearLeftovers(0)).toBe(true);
    expect(program.tree.members()).toEqual([]);
  });

  test("is stopped as a whole", async () => {
    const program = twoProcesses("exec sleep 600");
    const reason = { code: "job-ended" } as const;
    expect(await program.stop({ graceMs: 5_000, reason })).toBe(true);
    expect((await program.ended).signal).toBe("SIGTERM");
  });
});
