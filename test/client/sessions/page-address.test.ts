import { describe, expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { pageAddress } from "../../../client/sessions/page-address.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { aPlace } from "../place.ts";

const id = "application_1795305600000_0009";

/** A cluster with that job, and what its staging folder has for its owner. */
function place(report: Partial<ApplicationReport>, access: object): Applications {
  return aPlace({
    report: async () => aReport({ id, state: "RUNNING", ...report }),
    readStaged: async () => Buffer.from(JSON.stringify(access)),
  });
}

const withKey = { pageKey: "a-key" };

describe("the address of a job's page", () => {
  test("is that of YARN's proxy, with what shows the whole job in the part that no browser sends", async () => {
    const asked: unknown[] = [];
    const applications = place({}, withKey);
    const address = await pageAddress(id, {
      ...applications,
      readStaged: async (...of) => {
        asked.push(of);
        return Buffer.from(JSON.stringify(withKey));
      },
    });
    expect(address).toBe(`http://127.0.0.1:8088/proxy/${id}/#a-key`);
    expect(asked).toEqual([[id, "client.json"]]);
  });

  test.each([
    ["has ended", { state: "FINISHED" }, withKey, `${id} has ended`],
    ["is somebody else's", { user: "bob" }, withKey, `Only bob, the owner of ${id}, can print the address of its page`],
    ["shows nobody all of it there", {}, {}, "-conf tony.am.page.enabled=true"],
    ["does not run yet", { state: "ACCEPTED" }, withKey, "does not run yet"],
  ] as const)("is none of a job that %s", async (_what, report, access, words) => {
    await expect(pageAddress(id, place(report, access))).rejects.toMatchObject({
      ...{ code: "NO_PAGE", exitCode: 3 },
      message: expect.stringContaining(words),
    });
  });

  test("is none of a job of this machine, nor where its folder cannot be read", async () => {
    const running = { report: async () => aReport({ id, state: "RUNNING" }) };
    await expect(pageAddress(id, aPlace(running))).rejects.toThrow(`tony-ts page ${id} shows it on this machine`);
    const readStaged = () => Promise.reject(new Error("permission denied"));
    await expect(pageAddress(id, aPlace({ ...running, readStaged }))).rejects.toMatchObject({
      code: "NO_PAGE",
      message: `The staging folder of ${id} cannot be read: permission denied`,
    });
  });
});
