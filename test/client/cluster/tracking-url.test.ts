import { describe, expect, test } from "@jest/globals";
import { throughActive } from "../../../client/cluster/tracking-url.ts";

const [first, second] = [
  { host: "rm1", port: 8088 },
  { host: "rm2", port: 8088 },
];
const path = "/proxy/application_1_0001/";

describe("the address of a job at the ResourceManagers' proxy", () => {
  test("names the active one, though the report names another", () => {
    expect(throughActive(`http://rm1:8088${path}`, [first, second], second)).toBe(`http://rm2:8088${path}`);
    expect(throughActive(`https://rm1:8088${path}`, [first, second], first)).toBe(`https://rm1:8088${path}`);
  });

  test.each([
    ["a proxy of its own", `http://proxy:9099${path}`, second],
    ["none yet", "N/A", second],
    ["none", "", second],
    ["an active one whose web address nobody says", `http://rm1:8088${path}`, undefined],
  ])("stays as it is: %s", (_what, url, active) => {
    expect(throughActive(url, [first, second, undefined], active)).toBe(url);
  });
});
