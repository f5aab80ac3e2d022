import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import {
  applicationIdFromWire,
  applicationIdToWire,
  attemptIdFromWire,
  attemptIdToWire,
  containerIdFromWire,
  containerIdToWire,
  nodeIdFromWire,
  nodeIdToWire,
} from "../../../src/hadoop/yarn/convert-ids.ts";
import {
  applicationIdOf,
  attemptIdOf,
  formatApplicationId,
  formatAttemptId,
  formatContainerId,
  parseApplicationId,
  parseAttemptId,
  parseContainerId,
  parseNodeId,
} from "../../../src/hadoop/yarn/ids.ts";

const applicationParts = { clusterTimestampMs: fc.maxSafeNat(), application: fc.nat() };
const attemptParts = { ...applicationParts, attempt: fc.nat() };
const containerParts = { ...attemptParts, epoch: fc.nat(2 ** 23 - 1), sequence: fc.nat(2 ** 40 - 1) };

describe("ids as Java prints them", () => {
  test("numbers are padded", () => {
    const parts = { clusterTimestampMs: 1_795_305_600_000, application: 7, attempt: 2 };
    expect(formatApplicationId(parts)).toBe("application_1795305600000_0007");
    expect(formatAttemptId(parts)).toBe("appattempt_1795305600000_0007_000002");
    expect(formatContainerId({ ...parts, epoch: 0, sequence: 3 })).toBe("container_1795305600000_0007_02_000003");
    expect(formatContainerId({ ...parts, epoch: 1, sequence: 3 })).toBe("container_e01_1795305600000_0007_02_000003");
    expect(formatContainerId({ ...parts, epoch: 9_000, sequence: 1_234_567 })).toBe(
      "container_e9000_1795305600000_0007_02_1234567",
    );
  });

  test("what is printed is read back", () => {
    fc.assert(
      fc.property(fc.record(containerParts), (parts) => {
        const { epoch, sequence, ...attempt } = parts;
        const { attempt: _, ...application } = attempt;
        expect(parseContainerId(formatContainerId(parts))).toEqual({ ...attempt, epoch, sequence });
        expect(parseAttemptId(formatAttemptId(parts))).toEqual(attempt);
        expect(parseApplicationId(formatApplicationId(parts))).toEqual(application);
      }),
    );
  });

  test("a container's attempt and application are found in its id", () => {
    const id = "container_e17_1795305600000_0007_02_000003";
    expect(attemptIdOf(id)).toBe("appattempt_1795305600000_0007_000002");
    expect(applicationIdOf(id)).toBe("application_1795305600000_0007");
    expect(applicationIdOf(attemptIdOf(id))).toBe("application_1795305600000_0007");
  });

  test.each([
    "",
    "application_1_x",
    "application_1",
    "application_1_1_1",
    "job_1_0001",
    "application_99999999999999999999_1",
    "application_1_2147483648",
    " application_1_0001",
  ])("%j is no application id", (id) => {
    expect(() => parseApplicationId(id)).toThrow(expect.objectContaining({ code: "INVALID_ID" }));
  });

  test("a node id is split at its last colon", () => {
    expect(parseNodeId("node-1.example.org:8041")).toEqual({ host: "node-1.example.org", port: 8041 });
    expect(parseNodeId("[::1]:8041")).toEqual({ host: "[::1]", port: 8041 });
    for (const id of ["node", "node:", ":1", "node:99999"]) {
      expect(() => parseNodeId(id)).toThrow(expect.objectContaining({ code: "INVALID_ID" }));
    }
  });
});

describe("ids on the wire", () => {
  test("every container id survives, also where its number outgrows 53 bits", () => {
    fc.assert(
      fc.property(fc.record(containerParts), (parts) => {
        const id = formatContainerId(parts);
        const bytes = yarn.ContainerIdProto.encode(containerIdToWire(id)).finish();
        expect(containerIdFromWire(yarn.ContainerIdProto.decode(bytes))).toBe(id);
      }),
    );
  });

  test("the number is the epoch before the sequence", () => {
    const { id } = containerIdToWire("container_e8192_1_0001_01_000005");
    expect(String(id)).toBe(((8192n << 40n) | 5n).toString());
  });

  test("applications, attempts and nodes survive", () => {
    fc.assert(
      fc.property(fc.record(attemptParts), (parts) => {
        const application = formatApplicationId(parts);
        const attempt = formatAttemptId(parts);
        expect(applicationIdFromWire(applicationIdToWire(application))).toBe(application);
        expect(attemptIdFromWire(attemptIdToWire(attempt))).toBe(attempt);
      }),
    );
    expect(nodeIdFromWire(nodeIdToWire("host:1"))).toBe("host:1");
  });
});
