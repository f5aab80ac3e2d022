import { describe, expect, test } from "@jest/globals";
import { formatTable } from "../../../client/output/format.ts";
import { recordedContext } from "../support.ts";

const block = (line: string, facts: readonly string[] = []) => ({
  lines: [`${line}!`, "  Ctrl-C ends the job"],
  cause: "containers",
  line,
  change: line.replace(/^\d+ s /, ""),
  facts,
});

describe("what is printed", () => {
  test("breaks between words on a terminal, unless it is a program's", () => {
    const { output, out, err } = recordedContext({ terminal: true });
    const long = `${"word ".repeat(25)}last`;
    output.print(long);
    output.problem(long);
    expect(out.text).toBe(`${"word ".repeat(19)}word\n  ${"word ".repeat(5)}last\n`);
    expect(err.text).toBe(out.text);
    out.text = "";
    output.logLine("", long);
    output.jsonLine({ long });
    expect(out.text).toBe(`${long}\n{"jsonVersion":1,"long":"${long}"}\n`);
  });

  test("takes the whole width of a terminal, and leaves a word whole that is longer", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.print("x".repeat(99));
    output.print(`${"y ".repeat(49)}zz`);
    const address = `http://${"a".repeat(120)}`;
    output.print(`see ${address}`);
    expect(out.text.split("\n")).toEqual(["x".repeat(99), `${"y ".repeat(48)}y`, "  zz", "see", `  ${address}`, ""]);
  });

  test("stays as it is in a pipe", () => {
    const { output, out } = recordedContext({});
    const long = "word ".repeat(40).trim();
    output.print(long);
    expect(out.text).toBe(`${long}\n`);
  });
});

describe("a wait beside a result", () => {
  test("goes to the other stream in a pipe, and stands where it always does on a terminal", () => {
    const pipe = recordedContext({});
    pipe.output.waitAside(block("0 s for 4 of 4", ["no room"]));
    expect([pipe.out.text, pipe.err.text]).toEqual(["", "0 s for 4 of 4: no room\n"]);
    const terminal = recordedContext({ terminal: true });
    terminal.output.waitAside(block("first"));
    terminal.output.endWait();
    expect([terminal.out.text, terminal.err.text]).toEqual(["first!\n  Ctrl-C ends the job\n\u001b[2A\r\u001b[J", ""]);
  });
});

describe("a wait in a pipe", () => {
  test("is told whole once, then what is new of it, and how long each 30 s", () => {
    const { output, out, clock } = recordedContext({});
    const at = (ms: number, line: string, facts: readonly string[], remedy?: string, until?: string) => {
      clock.nowMs = ms;
      output.wait({ ...block(line, facts), remedy, until });
    };
    const start = clock.nowMs;
    at(start, "0 s for 4 of 4", ["no room", "; → in a reason"], "lower", "at noon it ends");
    at(start + 6_000, "6 s for 4 of 4", ["no room", "; → in a reason"], "lower", "at noon it ends");
    at(start + 7_000, "7 s for 2 of 4", ["no room"], "lower");
    at(start + 37_000, "37 s for 2 of 4", ["no room"], "lower");
    at(start + 43_000, "43 s for 2 of 4", ["no node"], "lower");
    at(start + 50_000, "50 s for 2 of 4", ["no node"], "raise");
    expect(out.text).toBe(
      "0 s for 4 of 4: no room; ; → in a reason → lower; at noon it ends\n7 s for 2 of 4\n37 s for 2 of 4\n" +
        "43 s for 2 of 4: no node\n50 s for 2 of 4: → raise\n",
    );
  });

  test("is no more than one line in 5 s for a cause, whatever changes and whether it ends in between", () => {
    const { output, out, clock } = recordedContext({});
    output.wait(block("0 s for 4 of 4", ["no room"]));
    clock.nowMs += 1_000;
    output.wait(block("1 s for 3 of 4", ["no node"]));
    output.endWait();
    clock.nowMs += 3_999;
    output.wait({ ...block("4 s for executors"), cause: "executors" });
    output.wait(block("4 s for 2 of 4", ["no room"]));
    clock.nowMs += 1;
    output.wait(block("5 s for 1 of 4", ["no node"]));
    expect(out.text).toBe("0 s for 4 of 4: no room\n4 s for executors\n5 s for 1 of 4: no node\n");
  });

  test("is told again 30 s after its last line, whatever that line was", () => {
    const { output, out, clock } = recordedContext({});
    const startMs = clock.nowMs;
    const at = (seconds: number, count: number) => {
      clock.nowMs = startMs + seconds * 1_000;
      output.wait(block(`${seconds} s for ${count} of 4`));
    };
    at(0, 4);
    at(29, 3);
    at(33, 2);
    for (const seconds of [34, 40, 63, 64, 70, 93, 94]) at(seconds, 2);
    expect(out.text.trimEnd().split("\n")).toEqual([
      "0 s for 4 of 4",
      "29 s for 3 of 4",
      "34 s for 2 of 4",
      "64 s for 2 of 4",
      "94 s for 2 of 4",
    ]);
  });

  test("has neither colours nor control characters", () => {
    const { output, out } = recordedContext({});
    output.print({ colour: "red", text: "FAILED" });
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

  test("draws over the line too that a person has typed below its block", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.typed("before there is one");
    output.wait(block("first"));
    expect(out.text).toBe("first!\n  Ctrl-C ends the job\n");
    output.typed("");
    out.text = "";
    output.wait(block("second"));
    output.wait(block("third"));
    const [two, three] = ["second", "third"].map((line) => `\r\u001b[J${line}!\n  Ctrl-C ends the job\n`);
    expect(out.text).toBe(`\u001b[3A${two}\u001b[2A${three}`);
    output.typed("yes");
    out.text = "";
    output.print("worker:0 | hello");
    expect(out.text).toBe("\u001b[3A\r\u001b[Jworker:0 | hello\nthird!\n  Ctrl-C ends the job\n");
    output.wait({ ...block(""), lines: ["a single line"] });
    output.typed("no");
    out.text = "";
    output.endWait();
    expect(out.text).toBe("\u001b[2A\r\u001b[J");
  });

  test("prints lines above its block", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait(block("first"));
    out.text = "";
    output.print("worker:0 | hello");
    expect(out.text).toBe("\u001b[2A\r\u001b[Jworker:0 | hello\nfirst!\n  Ctrl-C ends the job\n");
  });

  test("wraps its lines between words, and draws over all of their rows", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait({ ...block(""), lines: [`  why: ${"word ".repeat(20)}end`] });
    expect(out.text).toBe(`  why: ${"word ".repeat(18).trim()}\n    word word end\n`);
    out.text = "";
    output.wait(block("next"));
    expect(out.text).toBe("\u001b[2A\r\u001b[Jnext!\n  Ctrl-C ends the job\n");
    out.text = "";
    output.wait({ ...block(""), lines: ["x".repeat(99)] });
    expect(out.text).toBe(`\u001b[2A\r\u001b[J${"x".repeat(99)}\n`);
  });

  test("is redrawn whole after the terminal was made narrower, which wraps what stood there", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait({ ...block(""), lines: ["x".repeat(90), "short"] });
    out.text = "";
    out.columns = 40;
    output.wait(block("next"));
    expect(out.text).toBe("\u001b[4A\r\u001b[Jnext!\n  Ctrl-C ends the job\n");
  });

  test("stays as long as it is where the terminal does not know its width", () => {
    const { output, out } = recordedContext({ terminal: true });
    out.columns = 0;
    const long = "word ".repeat(40).trim();
    output.print(long);
    expect(out.text).toBe(`${long}\n`);
    expect(output.columns).toBe(120);
  });

  test("is cut where it is higher than the screen", () => {
    const { output, out } = recordedContext({ terminal: true });
    out.rows = 4;
    output.wait({ ...block(""), lines: ["1", "2", "3", "4"] });
    expect(out.text).toBe("1\n2\n…\n");
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
    const { output, out } = recordedContext({ terminal: true, environment });
    output.print({ colour: "red", text: "FAILED" });
    expect(out.text).toBe("FAILED\n");
  });

  test.each([
    ["red", 31, 39],
    ["green", 32, 39],
    ["yellow", 33, 39],
    ["dim", 2, 22],
    ["bold", 1, 22],
  ] as const)("is coloured otherwise: %s", (colour, on, off) => {
    const { output, out } = recordedContext({ terminal: true });
    output.print({ colour, text: "FAILED" });
    expect(out.text).toBe(`\u001b[${on}mFAILED\u001b[${off}m\n`);
  });
});

test("a result for programs has a line for each field, or is a line itself", () => {
  const { output, out } = recordedContext({});
  output.json({ a: 1 });
  output.jsonLine({ a: 1 });
  expect(out.text).toBe('{\n  "jsonVersion": 1,\n  "a": 1\n}\n{"jsonVersion":1,"a":1}\n');
});

describe("control characters in what others wrote", () => {
  // Red, an answer that a terminal would type in, a title, an 8-bit CSI, and a name that reads backwards.
  const hostile = "\u001b[31m\u001b[6n\u001b]0;title\u0007\u009b2J\u007f\r\u202egnp.exe\u2066";
  const shown = "\\x1b[31m\\x1b[6n\\x1b]0;title\\x07\\x9b2J\\x7f\\x0d\\u202egnp.exe\\u2066";
  const wait = { lines: [hostile], cause: "c", line: hostile, change: "c", facts: [hostile], remedy: hostile };

  test("are shown where they stand, but in the line of a log", () => {
    const { output, out, err } = recordedContext({});
    output.print(`a\t${hostile}\n`, { colour: "red", text: hostile });
    output.preformatted(hostile);
    output.wait({ ...wait, until: hostile });
    output.logLine(`${hostile} | `, hostile);
    output.problem(hostile);
    output.logLine("", hostile, "err");
    expect(out.text.split("\n").slice(0, -1)).toEqual([
      `a\t${shown}`,
      shown,
      shown,
      `${shown}: ${shown} → ${shown}; ${shown}`,
      `${shown} | ${hostile}`,
    ]);
    expect(err.text).toBe(`${shown}\n${hostile}\n`);
  });

  test("are shown in the block of a wait, whose lines stay one each, and in a colour", () => {
    const { output, out } = recordedContext({ terminal: true });
    output.wait({ ...wait, lines: [`${hostile}\nforged`] });
    output.endWait();
    output.print({ colour: "red", text: hostile });
    expect(out.text).toBe(`${shown}\\x0aforged\n\u001b[1A\r\u001b[J\u001b[31m${shown}\u001b[39m\n`);
  });

  test("are escaped in JSON as JSON does it", () => {
    const { output, out } = recordedContext({});
    output.json({ [hostile]: hostile });
    expect(out.text).toMatch(/^[ -~\n]+$/);
    expect(JSON.parse(out.text)).toEqual({ jsonVersion: 1, [hostile]: hostile });
    out.text = "";
    output.jsonLine({ hostile });
    expect(out.text).toMatch(/^[ -~]+\n$/);
  });

  test("take their room in a table, where no cell makes a row", () => {
    expect(
      formatTable([
        ["a\nb", "c"],
        [hostile, "d"],
      ]),
    ).toEqual([`a\\x0ab${" ".repeat(shown.length - 6)}   c`, `${shown}   d`]);
  });
});
