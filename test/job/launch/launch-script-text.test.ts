import { execFileSync } from "node:child_process";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { exportLines } from "../../../am/scheduler/local/container.ts";
import { escapeForLaunchScript, expandableEnvironment } from "../../../src/job/launch/launch-script-text.ts";

/** What variables hold in a container that is launched with these texts as their values, NAME being `ada` there. */
function inContainer(values: readonly string[]): string[] {
  const environment = Object.fromEntries(values.map((value, index) => [`V${index}`, value]));
  const names = values.map((_, index) => `"$V${index}"`);
  const script = [...exportLines(environment, "/logs"), `printf '%s\\0' ${names.join(" ")}`].join("\n");
  // Standard input is no pipe: bash takes one made by Node for a remote shell's, and reads the person's .bashrc.
  const output = execFileSync("bash", ["-c", script], {
    encoding: "utf8",
    env: { NAME: "ada" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return output.split("\0").slice(0, -1);
}

const expandable = (values: readonly string[]) =>
  Object.values(expandableEnvironment(Object.fromEntries(values.map((value, index) => [`V${index}`, value]))));

/** Many at once: bash is started for each run. */
const textsOf = (characters: string) =>
  fc.array(fc.string({ unit: fc.constantFrom(...characters) }), { minLength: 1, maxLength: 200 });

describe("text of ours in a launch script", () => {
  it.each(['$HOME `id` \\ "quoted"', "{{HOME}}", '{"a":{"b":{}}}', "<LOG_DIR>/x <CPS>", "{{{{", "a\nb"])(
    "%s comes out as it is",
    (text) => {
      expect(inContainer([escapeForLaunchScript(text)])).toEqual([text]);
    },
  );

  it("comes out as it is, whatever it is", () => {
    fc.assert(
      fc.property(textsOf("{}<>$`\\\"' \nLOG_DIRCPSa"), (texts) =>
        expect(inContainer(texts.map(escapeForLaunchScript))).toEqual(texts),
      ),
      { numRuns: 20 },
    );
  });
});

describe("a person's value of an environment variable", () => {
  it.each([
    ["$NAME/x", "ada/x"],
    ["${NAME}_1", "ada_1"],
    ["{{NAME}}_1", "ada_1"],
    ["${NAME}}", "ada}"],
    ["${NOBODY:-none}", "none"],
    ["\\$NAME", "$NAME"],
    ["\\\\$NAME", "\\$NAME"],
    ["<LOG_DIR>/x<CPS>y", "/logs/x:y"],
  ])("%s has its variables expanded: %s", (value, expanded) => {
    expect(inContainer(expandable([value]))).toEqual([expanded]);
  });

  it.each([
    "$(id)",
    "`id`",
    '"; id; "',
    "${NOBODY:-$(id)}",
    "${NOBODY:-`id`}",
    "${NAME@P}",
    "$[1+1]",
    "$((1+1))",
    "$$",
    "pa$1word",
    '{"a":{"b":{}}}',
    "it's",
    "a\\b\n",
  ])("%s is taken as it is", (value) => {
    expect(inContainer(expandable([value]))).toEqual([value]);
  });

  it("runs no command and loses no character, whatever it is", () => {
    fc.assert(
      fc.property(textsOf("{}<>()[]$`\\\"' \n;&|!#-:=@*?1"), (texts) =>
        expect(inContainer(expandable(texts))).toEqual(texts.map((text) => text.replaceAll("\\$", "$"))),
      ),
      { numRuns: 20 },
    );
  });
});
