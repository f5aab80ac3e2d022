import { PassThrough } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { askToEnd } from "../../../client/following/ask-to-end.ts";
import { recordedContext } from "../support.ts";

async function answered(input: string): Promise<{ readonly ends: boolean; readonly asked: string }> {
  const { output, err } = recordedContext({});
  const terminal = new PassThrough();
  const ends = askToEnd("application_1_0007", output, terminal);
  terminal.end(input);
  return { ends: await ends, asked: err.text };
}

describe("the question whether a job that was submitted elsewhere is to end", () => {
  test("says what each answer does", async () => {
    expect((await answered("\n")).asked).toBe(
      "application_1_0007 was not submitted here. Type y and Enter to end it; Enter alone leaves it running.\n",
    );
  });

  test.each(["y\n", "Yes\n", " y \n"])("%j ends it", async (input) => {
    expect((await answered(input)).ends).toBe(true);
  });

  test.each(["\n", "n\n", "yet\n", "", "end it\n"])("%j leaves it running", async (input) => {
    expect((await answered(input)).ends).toBe(false);
  });

  test("reads no further than the answer", async () => {
    const terminal = new PassThrough();
    const asked = askToEnd("application_1_0007", recordedContext({}).output, terminal);
    terminal.write("y\n");
    await asked;
    expect([terminal.isPaused(), terminal.listenerCount("data")]).toEqual([true, 0]);
  });

  test("goes from the terminal with its answer, when what is waited for is drawn again", async () => {
    const { output, out } = recordedContext({ terminal: true });
    const block = { lines: ["waiting"], cause: "", line: "", change: "", facts: [] };
    output.wait(block);
    const terminal = new PassThrough();
    const asked = askToEnd("application_1_0007", output, terminal);
    terminal.end("\n");
    await asked;
    out.text = "";
    output.wait(block);
    expect(out.text).toBe("\u001b[2A\r\u001b[Jwaiting\n");
  });
});
