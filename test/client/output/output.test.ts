import { describe, expect, test } from "@jest/globals";
import { recordedContext } from "../support.ts";

const block = (line: string, change = line) => ({ lines: [`${line}!`, "  Ctrl-C ends the job"], line, change });

describe("a wait in a pipe", () => {
  test("is one line for each change and one each 30 s", () => {
    const { output, out, clock } = recordedContext({});
    output.wait(block("0 s: no room", "no room"));
    clock.nowMs += 1_000;
    output.wait(block("1 s: no room", "no room"));
    clock.nowMs += 1_000;
    output.wait(block("2 s: starting", "starting"));
    clock.nowMs += 29_999;
    output.wait(block("31 s: starting", "starting"));
    clock.nowMs += 1;
    output.wait(block("32 s: starting", "starting"));
    expect(out.text).toBe("0 s: no room\n2 s: starting\n32 s: starting\n");
  });

  test("has neither colours nor control characters", () => {
    const { output, out } = recordedContext({});
    output.print(output.paint("red", "FAILED"));
    output.endWait();
    expect(out.text).toBe("FAILED\n");
  });
});

describe("a wait on a terminal", () => {
  test("redraws its block in place", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait(block("first"));
    out.text = "";
    output.wait(block("second"));
    expect(out.text).toBe("\u001b[2A\r\u001b[Jsecond!\n  Ctrl-C ends the job\n");
  });

  test("prints lines above its block", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait(block("first"));
    out.text = "";
    output.print("worker:0 | hello");
    expect(out.text).toBe("\u001b[2A\r\u001b[Jworker:0 | hello\nfirst!\n  Ctrl-C ends the job\n");
  });

  test("cuts lines that would wrap", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait({ lines: ["x".repeat(200)], line: "", change: "" });
    expect(out.text).toBe(`${"x".repeat(98)}…\n`);
  });

  test("is redrawn whole after the terminal was made narrower, which wraps what stood there", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait({ lines: ["x".repeat(90), "short"], line: "", change: "" });
    out.text = "";
    out.columns = 40;
    output.wait(block("next"));
    expect(out.text).toBe("\u001b[4A\r\u001b[Jnext!\n  Ctrl-C ends the job\n");
  });

  test("leaves nothing behind when it is over", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait(block("first"));
    out.text = "";
    output.endWait();
    expect(out.text).toBe("\u001b[2A\r\u001b[J");
  });

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }],
    ["TERM=dumb", { TERM: "dumb" }],
  ])("obeys %s", (_name, environment) => {
    const { output } = recordedContext({ terminal: true, environment });
    expect(output.paint("red", "FAILED")).toBe("FAILED");
  });

  test("is coloured otherwise", () => {
    const { output } = recordedContext({ terminal: true });
    expect(output.paint("red", "FAILED")).toBe("\u001b[31mFAILED\u001b[39m");
  });
});
