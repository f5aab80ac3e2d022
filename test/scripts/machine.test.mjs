import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { prepareMachine } from "../../scripts/test/machine.mjs";

/** Installs `ip` as a package would, and finds no Maven anywhere. */
const APT_GET = `#!/bin/sh
case "$*" in
  *maven*) echo "E: Unable to locate package maven" >&2; exit 100 ;;
  *install*iproute2*) : >"$BIN/ip"; chmod +x "$BIN/ip" ;;
esac
`;
const SUDO = `#!/bin/sh
while [ "\${1#-}" != "$1" ]; do shift; done
test $# -eq 0 || exec "$@"
`;

describe("what the tests need of a machine", () => {
  /** @type {string} */
  let bin;
  /** @type {string | undefined} */
  let path;
  /** @type {string[]} */
  let said;

  beforeEach(async () => {
    bin = await mkdtemp(join(tmpdir(), "tony-machine-"));
    for (const [name, script] of Object.entries({ "apt-get": APT_GET, sudo: SUDO })) {
      await writeFile(join(bin, name), script, { mode: 0o755 });
    }
    for (const name of ["env", "chmod", "sh"]) await symlink(`/usr/bin/${name}`, join(bin, name));
    path = process.env.PATH;
    process.env.PATH = bin;
    process.env.BIN = bin;
    said = [];
    jest.spyOn(console, "log").mockImplementation((line) => said.push(line));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    process.env.PATH = path;
    delete process.env.BIN;
    await rm(bin, { recursive: true });
  });

  test("is installed with one line; a package that does not come is named, and keeps no other from coming", async () => {
    const lacking = await prepareMachine(["network-tools", "maven"], { yes: true });
    expect([...lacking]).toEqual([
      ["maven", expect.stringMatching(/^Maven .*: .*apt-get.* failed:\n.*Unable to locate/)],
    ]);
    expect(said.join("\n")).toMatch(/✗ ip, .*\n✗ Maven .*\nTo install what is missing:\n {2}.*iproute2 maven$/m);
  });

  test("is not installed on a machine that has no apt-get, which is said of each", async () => {
    await rm(join(bin, "apt-get"));
    expect([...(await prepareMachine(["network-tools"], { yes: true }))]).toEqual([
      ["network-tools", expect.stringMatching(/^ip, .*: this machine has no apt-get$/)],
    ]);
  });

  test("is asked for in vain where it is there already", async () => {
    await writeFile(join(bin, "ip"), "", { mode: 0o755 });
    expect((await prepareMachine(["network-tools"], { yes: false })).size).toBe(0);
    expect(said).toEqual([]);
  });
});
