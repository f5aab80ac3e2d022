import { describe, expect, test } from "@jest/globals";
import { type Submissions, submitApplication } from "../../../client/submission/submit-application.ts";
import { CodedError } from "../../../src/hadoop/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import type { ApplicationState } from "../../../src/hadoop/yarn/records.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { recordedContext } from "../support.ts";

const id = "application_1795305600000_0007";
const application = {
  id,
  name: "hello",
  queue: "default",
  masterLaunch: { commands: [] },
  masterResource: { memoryMiB: 512, vcores: 1, others: {} },
} as const;
const silence = new CodedError("no answer", { code: "RPC_TIMEOUT", retryable: true });
const unknown = new RemoteError(
  "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException",
  "no such application",
);
const tooLarge = new RemoteError("org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException", "too large");
const refused = (configured: string) =>
  new RemoteError(
    "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException",
    `maximum allowed allocation=<memory:256, vCores:4>, which might be less than configured maximum allocation=${configured}`,
  );
const refusal =
  "org.apache.hadoop.security.AccessControlException: Queue root.ml is STOPPED. Cannot accept submission of application";
const duplicate = new RemoteError("org.apache.hadoop.yarn.exceptions.YarnException", "Application is already present!");

/** A ResourceManager that answers submissions and questions in this order; the last answer to each is given again. */
class Script implements Submissions {
  readonly asked: string[] = [];
  /** Those that would end the waiting for its answers. */
  readonly signals = new Set<AbortSignal>();
  readonly #submissions: (Error | "taken")[];
  readonly #states: (Error | ApplicationState)[];
  readonly #diagnostics: string;

  constructor(submissions: (Error | "taken")[], states: (Error | ApplicationState)[], diagnostics = refusal) {
    this.#submissions = submissions;
    this.#states = states;
    this.#diagnostics = diagnostics;
  }

  async submit(_application: object, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.asked.push("submit");
    this.signals.add(signal);
    const [answer = "taken"] = this.#submissions.length > 1 ? this.#submissions.splice(0, 1) : this.#submissions;
    if (answer instanceof Error) throw answer;
  }

  async report(
    _id: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<{ readonly state: ApplicationState; readonly diagnostics: string }> {
    this.asked.push("report");
    this.signals.add(signal);
    const [answer = unknown] = this.#states.length > 1 ? this.#states.splice(0, 1) : this.#states;
    if (answer instanceof Error) throw answer;
    return { state: answer, diagnostics: answer === "FAILED" ? this.#diagnostics : "" };
  }
}

const startMs = 1_000_000;

/** Says which signals would end its sleeps. */
class WatchedClock extends ManualClock {
  readonly signals = new Set<AbortSignal | undefined>();

  override nowMs(): number {
    return startMs + super.nowMs();
  }

  override async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    this.signals.add(signal);
    await super.sleep(delayMs);
  }
}

function handedIn(
  script: Script,
  options: {
    readonly stop?: AbortSignal;
    readonly clock?: WatchedClock;
    readonly others?: Readonly<Record<string, number>>;
    readonly terminal?: boolean;
    readonly giveUpAfterMs?: number;
  } = {},
) {
  const { stop = new AbortController().signal, clock = new WatchedClock(), others = {} } = options;
  const { terminal = false, giveUpAfterMs = 5_000 } = options;
  const { output, out, err } = recordedContext({ terminal });
  let brief = false;
  const askBriefly = () => {
    brief = true;
  };
  const taken = submitApplication(
    { ...application, masterResource: { ...application.masterResource, others } },
    {
      resourceManager: script,
      output,
      stop,
      giveUpAfterMs,
      askBriefly,
      clock,
    },
  );
  return { taken, out, err, clock, isBrief: () => brief };
}

describe("a submission that was answered", () => {
  test("is waited for until the ResourceManager has saved it and its scheduler has taken it", async () => {
    const script = new Script(["taken"], ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"]);
    const { taken, err } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report", "report", "report"]);
    expect(err.text).toBe("");
  });

  test("and that the scheduler refuses is an error with its words, its queue and exit code 3", async () => {
    const { taken } = handedIn(new Script(["taken"], ["NEW_SAVING", "SUBMITTED", "FAILED"], `\n${refusal}\n`));
    await expect(taken).rejects.toMatchObject({
      code: "SUBMISSION_REFUSED",
      exitCode: 3,
      message: expect.stringMatching(
        /^The ResourceManager refuses the job: Queue root\.ml is STOPPED\. .*\n {2}It asks for queue default \(tony\.yarn\.queue\)/,
      ),
    });
  });

  test("and whose tokens cannot be renewed is an error that says what the ResourceManager needs", async () => {
    const diagnostics =
      "java.io.IOException: Failed to renew token: Kind: HDFS_DELEGATION_TOKEN, Service: ha-hdfs:ns, Ident: (owner=ada, renewer=yarn, realUser=)";
    await expect(handedIn(new Script(["taken"], ["FAILED"], diagnostics)).taken).rejects.toMatchObject({
      code: "SUBMISSION_REFUSED",
      exitCode: 3,
      message: expect.stringMatching(
        /^The ResourceManager refuses the job, because it cannot renew the delegation token HDFS_DELEGATION_TOKEN for ha-hdfs:ns\n {2}Only yarn may: /,
      ),
    });
  });

  test("says what it waits for when that takes long", async () => {
    const states = [...Array<ApplicationState>(12).fill("NEW_SAVING"), "ACCEPTED"] as const;
    const { taken, err } = handedIn(new Script(["taken"], [...states]));
    await taken;
    const onTerminal = handedIn(new Script(["taken"], [...states]), { terminal: true });
    await onTerminal.taken;
    expect(onTerminal.out.text).toContain("The ResourceManager has been saving application_1795305600000_0007 for 1 s");
    expect(onTerminal.out.text.endsWith("A\r\u001b[J")).toBe(true);
    expect(err.text).toMatch(/^The ResourceManager has been saving application_\d+_0007 for 1 s\n$/);
  });

  test("is made again when the ResourceManager failed over before it had saved it", async () => {
    const script = new Script(["taken"], ["NEW_SAVING", unknown, "ACCEPTED"]);
    const { taken, err } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report", "submit", "report"]);
    expect(err.text).toBe(
      `The ResourceManager accepted ${id} and then lost it, as after a failover: submitting it again\n`,
    );
  });

  test("and forgotten again and again is given up in the end", async () => {
    const script = new Script(["taken"], [unknown]);
    const { taken, clock } = handedIn(script, { giveUpAfterMs: 5_100 });
    await expect(taken).rejects.toMatchObject({ code: "SUBMISSION_FORGOTTEN", exitCode: 3 });
    expect(clock.nowMs()).toBe(startMs + 5_100);
  });

  test("is looked for again after a moment, which grows to a fifth of a second, as is one that is made again", async () => {
    const stop = new AbortController().signal;
    const looks = new WatchedClock();
    const saving = [...Array<ApplicationState>(6).fill("SUBMITTED"), "ACCEPTED"] as const;
    const script = new Script(["taken"], [...saving]);
    await handedIn(script, { clock: looks, stop }).taken;
    expect([...script.signals]).toStrictEqual([stop]);
    const tries = new WatchedClock();
    const unsaved = [...Array<Error>(6).fill(unknown), "ACCEPTED"] as const;
    await handedIn(new Script(["taken"], [...unsaved]), { clock: tries, stop }).taken;
    for (const { sleepsMs, signals } of [looks, tries]) {
      expect(sleepsMs).toEqual([20, 40, 80, 160, 200, 200]);
      expect([...signals]).toStrictEqual([stop]);
    }
  });

  test("may have been taken when nobody answers after it", async () => {
    const { taken } = handedIn(new Script(["taken"], ["NEW_SAVING", silence]));
    await expect(taken).rejects.toMatchObject({
      code: "SUBMISSION_UNKNOWN",
      exitCode: 5,
      message: `Whether the ResourceManager took ${id} is not known: no answer\n  When it answers again: tony-ts status ${id}`,
    });
  });

  test("is taken as far as we know when a person does not want to wait", async () => {
    const script = new Script(["taken"], ["NEW_SAVING"]);
    await handedIn(script, { stop: AbortSignal.abort() }).taken;
    expect(script.asked).toEqual(["submit", "report"]);
  });

  test("and forgotten is not made again when a person does not want to wait", async () => {
    const script = new Script(["taken"], [unknown]);
    const { taken } = handedIn(script, { stop: AbortSignal.abort() });
    await expect(taken).rejects.toMatchObject({ code: "SUBMISSION_FORGOTTEN" });
    expect(script.asked).toEqual(["submit", "report"]);
  });
});

test.each<[string, Error | "taken", Error | ApplicationState]>([
  ["the ResourceManager saves it", "taken", "NEW_SAVING"],
  ["the ResourceManager has forgotten it", "taken", unknown],
  ["the nodes are too small for it", refused("<memory:4096, vCores:4>"), unknown],
])("where %s nothing is asked before the pause is over", async (_why, answer, state) => {
  const script = new Script([answer], [state]);
  const clock = Object.assign(new WatchedClock(), { sleep: () => new Promise<void>(() => undefined) });
  void handedIn(script, { clock }).taken;
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(script.asked).toEqual(["submit", "report"]);
});

describe("a submission that was not answered", () => {
  test("is looked up, briefly because patience is spent, and goes on when it was taken", async () => {
    const script = new Script([silence], ["NEW_SAVING", "ACCEPTED"]);
    const { taken, isBrief } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report"]);
    expect(isBrief()).toBe(true);
  });

  test("and was never made, as its error says, is not looked up", async () => {
    const never = new CodedError("it is too large for the wire", { code: "RPC_PROTOCOL", retryable: false });
    const script = new Script([never], ["ACCEPTED"]);
    await expect(handedIn(script).taken).rejects.toBe(never);
    expect(script.asked).toEqual(["submit"]);
  });

  test("has failed when the ResourceManager does not know it", async () => {
    await expect(handedIn(new Script([silence], [unknown])).taken).rejects.toBe(silence);
  });

  test("may have been taken when the look-up is not answered either", async () => {
    const away = new CodedError("nobody is there", { code: "RPC_CONNECT_FAILED", retryable: true });
    await expect(handedIn(new Script([silence], [away])).taken).rejects.toMatchObject({
      code: "SUBMISSION_UNKNOWN",
      message: expect.stringMatching(/ is not known: no answer\n/),
      cause: silence,
    });
  });
});

describe("a submission that was refused", () => {
  test("has failed for the reason that the ResourceManager gave, when it does not know it", async () => {
    await expect(handedIn(new Script([tooLarge], [unknown])).taken).rejects.toBe(tooLarge);
  });

  test("because the nodes are too small for its ApplicationMaster waits, visibly, until one is large enough", async () => {
    const script = new Script([refused("<memory:4096, vCores:4>"), "taken"], [unknown, "ACCEPTED"]);
    const stop = new AbortController().signal;
    const { taken, err, clock } = handedIn(script, { stop });
    await taken;
    expect(script.asked).toEqual(["submit", "report", "submit", "report"]);
    expect(clock).toMatchObject({ sleepsMs: [10_000], signals: new Set([stop]) });
    expect(err.text).toBe(
      "No node that is registered now is large enough for the ApplicationMaster, which asks for 512 MiB, 1 core; the largest container has 256 MiB, 4 cores: waiting for 0 s\n",
    );
  });

  test("by an older release, which does not say how large a container may be now, is waited for as well", async () => {
    const older = new RemoteError(tooLarge.javaClass, "configured maximum allocation=<memory:4096, vCores:4>");
    const { taken, err } = handedIn(new Script([older, "taken"], [unknown, "ACCEPTED"]));
    await taken;
    expect(err.text).toMatch(/, which asks for 512 MiB, 1 core: waiting for 0 s\n$/);
  });

  test("for that reason again and again says for how long already, and nothing more once it has failed otherwise", async () => {
    const small = refused("<memory:4096, vCores:4>");
    const lost = new CodedError("no way there", { code: "RPC_PROTOCOL", retryable: false });
    const { taken, out } = handedIn(new Script([small, small, lost], [unknown]), { terminal: true });
    await expect(taken).rejects.toBe(lost);
    expect(out.text).toContain(": waiting for 10 s");
    expect(out.text.endsWith("A\r\u001b[J")).toBe(true);
  });

  test("because even the configured maximum is too small has failed", async () => {
    const refusal = refused("<memory:256, vCores:4>");
    await expect(handedIn(new Script([refusal], [unknown])).taken).rejects.toBe(refusal);
  });

  test("has failed as well where it asks for more GPUs than are configured; a type that is not named there has no limit", async () => {
    const refusal = refused("<memory:4096, vCores:4, yarn.io/gpu: 1>");
    const asking = (others: Readonly<Record<string, number>>) => {
      const script = new Script([refusal, "taken"], [unknown, "ACCEPTED"]);
      return handedIn(script, { others }).taken;
    };
    await expect(asking({ "yarn.io/gpu": 2 })).rejects.toBe(refusal);
    await asking({ "yarn.io/gpu": 1 });
    await asking({ "yarn.io/fpga": 8 });
  });

  test("is waited for no longer than a person likes", async () => {
    const refusal = refused("<memory:4096, vCores:4>");
    const { taken, err } = handedIn(new Script([refusal], [unknown]), { stop: AbortSignal.abort() });
    await expect(taken).rejects.toBe(refusal);
    expect(err.text).toBe("");
  });

  test("is not made again when the person loses patience while it waits", async () => {
    const refusal = refused("<memory:4096, vCores:4>");
    const script = new Script([refusal, "taken"], [unknown]);
    const stop = new AbortController();
    const clock = Object.assign(new WatchedClock(), { sleep: async () => stop.abort() });
    await expect(handedIn(script, { stop: stop.signal, clock }).taken).rejects.toBe(refusal);
    expect(script.asked).toEqual(["submit", "report"]);
  });

  test("because an earlier try is being worked on has been taken", async () => {
    const script = new Script([duplicate], ["NEW_SAVING", "ACCEPTED"]);
    const { taken, isBrief } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report"]);
    expect(isBrief()).toBe(false);
  });
});
