import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { commands } from "../client/commands/commands.ts";

test("compose.yaml starts the portal beside Hadoop, of what a build makes, as whoever looks at it", () => {
  const { services } = parse(readFileSync("docker/hadoop/compose.yaml", "utf8"));
  const { hadoop, portal } = services;
  const [node, program, verb] = portal.command;
  expect([node, program]).toEqual(["node", "/opt/tony-ts/dist/programs/tony-ts.cjs"]);
  expect(commands.map((command) => command.verb)).toContain(verb);
  expect(portal.volumes).toContain("../..:/opt/tony-ts:ro");
  const state = hadoop.volumes.map((volume: string) => `${volume}:ro`);
  expect(portal.volumes).toEqual(expect.arrayContaining(state));
  // It tells its own user from others by the host's connections.
  expect([hadoop.network_mode, portal.network_mode]).toEqual(["host", "host"]);
  expect(portal).toMatchObject({ depends_on: { hadoop: { condition: "service_healthy" } }, user: expect.any(String) });
});
