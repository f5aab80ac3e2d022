import { expect, test } from "@jest/globals";
import { waitForJobs } from "../../../client/commands/wait.ts";
import { ExitCode, UserError } from "../../../src/errors.ts";
import { recordedContext } from "../support.ts";

async function* lines(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

test("all jobs are waited for at once, and the first that came and did not succeed gives the exit code", async () => {
  const context = recordedContext({});
  const waiting: string[] = [];
  let gather = () => {};
  const gathered = new Promise<void>((resolve) => {
    gather = resolve;
  });
  const wait = async (id: string) => {
    waiting.push(id);
    if (waiting.length === 3) gather();
    await gathered;
    if (id === "local_1_1") return ExitCode.succeeded;
    return id === "local_1_2" ? ExitCode.killed : ExitCode.jobFailed;
  };
  const exitCode = await waitForJobs(lines("local_1_1", "", " local_1_2 ", "local_1_3"), wait, false, context);
  expect(waiting).toEqual(["local_1_1", "local_1_2", "local_1_3"]);
  expect(exitCode).toBe(ExitCode.killed);
});

test("what is wrong with one is told of that one, and the others are waited for", async () => {
  const context = recordedContext({});
  const wait = async (id: string) => {
    if (id === "local_1_1") throw new UserError("no such job", { code: "APPLICATION_NOT_FOUND" });
    return ExitCode.succeeded;
  };
  expect(await waitForJobs(lines("local_1_1", "local_1_2"), wait, true, context)).toBe(ExitCode.usage);
  expect(JSON.parse(context.out.text)).toMatchObject({
    event: "end",
    applicationId: "local_1_1",
    outcome: null,
    error: { code: "APPLICATION_NOT_FOUND", message: "no such job", retryable: false },
    exitCode: ExitCode.usage,
  });
  expect(context.err.text).toContain("tony-ts: local_1_1: no such job");
});

test("without jobs there is nothing to wait for", async () => {
  expect(await waitForJobs(lines(), async () => ExitCode.jobFailed, true, recordedContext({}))).toBe(
    ExitCode.succeeded,
  );
});
