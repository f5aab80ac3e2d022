import { beforeEach, describe, expect, test } from "@jest/globals";
import { FreshTokens } from "../../../am/tokens/fresh-tokens.ts";
import { renewTokens } from "../../../am/tokens/token-renewal.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { sha256Of } from "../../../src/job/stored/job-keytab.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobFile } from "../../support/job-file.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock, turn } from "../../support/stepped-clock.ts";
import { aDelegationToken } from "../../support/tokens.ts";

const content = Buffer.from("keys");
const keytab = {
  principal: "ada@EXAMPLE",
  sha256: sha256Of(content),
  program: { link: "no-such-program.cjs", sha256: "" },
  nativeModules: {},
  hadoop: {},
};
const job = aJobFile({ hadoop: { "hadoop.security.authentication": "kerberos" } });

describe("an ApplicationMaster's delegation tokens", () => {
  let clock: SteppedClock;
  let looksAtS: number[];
  let keytabReads: number;
  let warnings: string[];
  beforeEach(() => {
    clock = new SteppedClock();
    [looksAtS, keytabReads, warnings] = [[], 0, []];
  });

  /** Of tokens that ended long ago, and lived for 200 s. */
  function renew(changes: { keytab?: typeof keytab; hadoop?: Record<string, string> }): void {
    const sinceMs = clock.nowMs();
    const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };
    const given = { tokens: [aDelegationToken(0, 200_000)], secrets: new Map() };
    class WithoutTokens extends LocalFileSystem {
      override async stat(): Promise<never> {
        looksAtS.push((clock.nowMs() - sinceMs) / 1_000);
        throw new FileSystemError("gone", { code: "FILE_NOT_FOUND" });
      }
    }
    renewTokens({
      job: { ...job, ...changes },
      tokens: new FreshTokens({ given, clock, log, replaced: () => undefined }),
      staging: {
        tokensFile: "/staging/tokens",
        keytab: async () => {
          keytabReads += 1;
          return content;
        },
      },
      fileSystem: new WithoutTokens(),
      log,
      // It tries once.
      keytabClock: { sleep: () => new Promise(() => undefined) },
    });
  }

  test("are looked for in the staging folder in a twentieth of their life", async () => {
    renew({});
    await turn();
    await clock.pass(20_000);
    expect(looksAtS).toEqual([0, 10, 20]);
    expect(keytabReads).toBe(0);
  });

  test("are obtained by the job's own keytab too, which the staging folder has", async () => {
    renew({ keytab });
    await eventually("it is tried", () => warnings.length > 0);
    expect(warnings).toEqual(["tokens-not-obtained"]);
    expect([keytabReads, looksAtS.length]).toEqual([1, 1]);
  });

  test("are neither where the cluster believes names", async () => {
    renew({ keytab, hadoop: {} });
    await clock.pass(60_000);
    expect([looksAtS, keytabReads]).toEqual([[], 0]);
  });
});
