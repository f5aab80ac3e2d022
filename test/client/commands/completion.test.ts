import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LocalMachine } from "./local-machine.ts";

let machine: LocalMachine;
beforeEach(() => {
  machine = new LocalMachine();
});
afterEach(() => machine.dispose());

const bash = expect.stringMatching(/^_tony_ts\(\)\n[\s\S]*\ncomplete -o bashdefault -o default -F _tony_ts tony-ts\n$/);
const zsh = expect.stringMatching(/^#compdef tony-ts\n[\s\S]*\ncompdef _tony_ts tony-ts\n$/);

test.each([
  ["bash", ["bash"], "/bin/zsh", bash],
  ["zsh", ["zsh"], "/bin/bash", zsh],
  ["the shell that is used", [], "/usr/bin/zsh", zsh],
  ["bash where another one is used", [], "/usr/bin/fish", bash],
  ["bash where it is not known", [], undefined, bash],
] as const)("tony-ts completion prints the script for %s", async (_which, words, shell, script) => {
  machine.environment = { ...machine.environment, ...(shell !== undefined && { SHELL: shell }) };
  expect(await machine.run("completion", ...words)).toEqual({ exitCode: 0, out: script, err: "" });
});

test("tony-ts completion says for which shells there is none", async () => {
  expect(await machine.run("completion", "fish")).toEqual({
    exitCode: 2,
    out: "",
    err: "There is no completion for fish: bash, zsh\n",
  });
});
