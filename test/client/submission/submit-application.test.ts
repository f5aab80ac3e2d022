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
  readonly #submissions: (Error | "taken")[];
  readonly #states: (Error | ApplicationState)[];

  constructor(submissions: (Error | "taken")[], states: (Error | ApplicationState)[]) {
    this.#submissions = submissions;
    this.#states = states;
  }

  async submit(): Promise<void> {
    this.asked.push("submit");
    const [answer = "taken"] = this.#submissions.length > 1 ? this.#submissions.splice(0, 1) : this.#submissions;
    if (answer instanceof Error) throw answer;
  }

  async report(): Promise<{ readonly state: ApplicationState; readonly diagnostics: string }> {
    this.asked.push("report");
    const [answer = unknown] = this.#states.length > 1 ? this.#states.splice(0, 1) : this.#states;
    if (answer instanceof Error) throw answer;
    return { state: answer, diagnostics: answer === "FAILED" ? refusal : "" };
  }
}

function handedIn(
  script: Script,
  options: {
    readonly stop?: AbortSignal;
    readonly clock?: ManualClock;
    readonly others?: Readonly<Record<string, number>>;
  } = {},
) {
  const { stop = new AbortController().signal, clock = new ManualClock(), others = {} } = options;
  const { output, err } = recordedContext({});
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
      giveUpAfterMs: 5_000,
      askBriefly,
      clock,
    },
  );
  return { taken, err, clock, isBrief: () => brief };
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
    const { taken } = handedIn(new Script(["taken"], ["NEW_SAVING", "SUBMITTED", "FAILED"]));
    await expect(taken).rejects.toMatchObject({
      code: "SUBMISSION_REFUSED",
      exitCode: 3,
      message: expect.stringMatching(
        /^The ResourceManager refuses the job: Queue root\.ml is STOPPED\. .*\n {2}It asks for queue default \(tony\.yarn\.queue\)/,
      ),
    });
  });

  test("says what it waits for when that takes long", async () => {
    const script = new Script(["taken"], [...Array<ApplicationState>(12).fill("NEW_SAVING"), "ACCEPTED"]);
    const { taken, err } = handedIn(script);
    await taken;
    expect(err.text).toMatch(/^The ResourceManager has been saving application_\d+_0007 for 1 s\n$/);
  });

  test("is made again when the ResourceManager failed over before it had saved it", async () => {
    const script = new Script(["taken"], ["NEW_SAVING", unknown, "ACCEPTED"]);
    const { taken, err } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report", "submit", "report"]);
    expect(err.text).toBe(
      `The ResourceManager took ${id} and then knew nothing of it, as after a failover: submitting it again\n`,
    );
  });

  test("and forgotten again and again is given up in the end", async () => {
    const script = new Script(["taken"], [unknown]);
    const { taken, clock } = handedIn(script);
    await expect(taken).rejects.toMatchObject({ code: "SUBMISSION_FORGOTTEN", exitCode: 3 });
    expect(clock.nowMs()).toBeGreaterThanOrEqual(5_000);
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

describe("a submission that was not answered", () => {
  test("is looked up, briefly because patience is spent, and goes on when it was taken", async () => {
    const script = new Script([silence], ["NEW_SAVING", "ACCEPTED"]);
    const { taken, isBrief } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "report"]);
    expect(isBrief()).toBe(true);
  });

  test("has failed when the ResourceManager does not know it", async () => {
    await expect(handedIn(new Script([silence], [unknown])).taken).rejects.toBe(silence);
  });

  test("may have been taken when the look-up is not answered either", async () => {
    await expect(handedIn(new Script([silence], [silence])).taken).rejects.toMatchObject({
      code: "SUBMISSION_UNKNOWN",
    });
  });
});

describe("a submission that was refused", () => {
  test("has failed for the reason that the ResourceManager gave, when it does not know it", async () => {
    await expect(handedIn(new Script([tooLarge], [unknown])).taken).rejects.toBe(tooLarge);
  });

  test("because the nodes are too small for its ApplicationMaster waits, visibly, until one is large enough", async () => {
    const script = new Script([refused("<memory:4096, vCores:4>"), "taken"], [unknown, "ACCEPTED"]);
    const { taken, err, clock } = handedIn(script);
    await taken;
    expect(script.asked).toEqual(["submit", "report", "submit", "report"]);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(10_000);
    expect(err.text).toBe(
      "No node that is registered now is large enough for the ApplicationMaster, which asks for 512 MiB, 1 core; the largest container has 256 MiB, 4 cores: waiting for 0 s\n",
    );
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
    const clock = Object.assign(new ManualClock(), { sleep: async () => stop.abort() });
    await expect(handedIn(script, { stop: stop.signal, clock }).taken).rejects.toBe(refusal);
    expect(script.asked).toEqual(["submit", "report"]);
  });

  test("because an earlier try is being worked on has been taken", async () => {
    const script = new Script([duplicate], ["NEW_SAVING", "ACCEPTED"]);
    await handedIn(script).taken;
    expect(script.asked).toEqual(["submit", "report", "report"]);
  });
});
