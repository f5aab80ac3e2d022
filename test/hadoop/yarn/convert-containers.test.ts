import { describe, expect, test } from "@jest/globals";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import {
  containerFromWire,
  containerStatusFromWire,
  launchContextToWire,
} from "../../../src/hadoop/yarn/convert-containers.ts";
import { localResourceTypes, resourceVisibilities } from "../../../src/hadoop/yarn/convert-enums.ts";
import { containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";

const id = "container_1_0001_01_000002";

test("a container that has not ended has YARN's number for that, which is no program's exit code", () => {
  const status = (exit_status?: number) =>
    containerStatusFromWire({
      container_id: containerIdToWire(id),
      ...(exit_status === undefined ? {} : { exit_status }),
    }).exitStatus;
  expect([status(), status(0), status(-104)]).toEqual([-1000, 0, -104]);
});

test("a container that was asked for without a number of its own has none, and no token where none came", () => {
  const container = containerFromWire({
    id: containerIdToWire(id),
    nodeId: { host: "n1", port: 8041 },
    resource: { memory: 512, virtual_cores: 1 },
  });
  expect(container).toMatchObject({ id, nodeId: "n1:8041", priority: 0, allocationRequestId: -1, version: 0 });
  expect(container).not.toHaveProperty("token");
});

test("a container has all that the ResourceManager says, and a token of its own bytes", () => {
  const frame = Buffer.of(9, 1, 2, 9);
  const container = containerFromWire({
    id: containerIdToWire(id),
    nodeId: { host: "n1", port: 8041 },
    node_http_address: "n1:8042",
    resource: { memory: 512, virtual_cores: 1 },
    priority: { priority: 3 },
    allocation_request_id: 5,
    version: 7,
    execution_type: yarn.ExecutionTypeProto.OPPORTUNISTIC,
    container_token: {
      identifier: frame.subarray(1, 2),
      password: frame.subarray(2, 3),
      kind: "ContainerToken",
      service: "n1:8041",
    },
  });
  frame.fill(0);
  expect(container).toEqual({
    id,
    nodeId: "n1:8041",
    nodeHttpAddress: "n1:8042",
    resource: { memoryMiB: 512, vcores: 1, others: {} },
    priority: 3,
    allocationRequestId: 5,
    version: 7,
    executionType: "OPPORTUNISTIC",
    token: { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "ContainerToken", service: "n1:8041" },
  });
});

test("a container's end has its reason", () => {
  const state = yarn.ContainerStateProto.C_COMPLETE;
  const ended = { container_id: containerIdToWire(id), state, exit_status: 1, diagnostics: "why" };
  expect(containerStatusFromWire(ended)).toEqual({
    ...{ containerId: id, state: "COMPLETE", exitStatus: 1, diagnostics: "why" },
  });
});

describe("how a container is to be started", () => {
  test("is told in full", () => {
    const { APPACCESS_VIEW_APP, APPACCESS_MODIFY_APP } = yarn.ApplicationAccessTypeProto;
    const url = { scheme: "hdfs", host: "nn", port: 8020, path: "/a/b.zip", userInfo: "ada" };
    const archive = { url, sizeBytes: 5, modificationTimeMs: 6, type: "ARCHIVE", visibility: "PRIVATE" } as const;
    expect(
      launchContextToWire({
        localResources: { src: archive },
        environment: { A: "1", B: "2" },
        commands: ["exec", "sh"],
        credentials: Uint8Array.of(1),
        tokensConf: Uint8Array.of(2),
        acls: { viewers: "bob", modifiers: "eve" },
      }),
    ).toEqual({
      localResources: [
        {
          key: "src",
          value: {
            resource: { scheme: "hdfs", host: "nn", port: 8020, file: "/a/b.zip", userInfo: "ada" },
            size: 5,
            timestamp: 6,
            type: yarn.LocalResourceTypeProto.ARCHIVE,
            visibility: yarn.LocalResourceVisibilityProto.PRIVATE,
          },
        },
      ],
      environment: [
        { key: "A", value: "1" },
        { key: "B", value: "2" },
      ],
      command: ["exec", "sh"],
      tokens: Uint8Array.of(1),
      tokens_conf: Uint8Array.of(2),
      application_ACLs: [
        { accessType: APPACCESS_VIEW_APP, acl: "bob" },
        { accessType: APPACCESS_MODIFY_APP, acl: "eve" },
      ],
    });
  });

  test("names no host, port or rights that there are not", () => {
    const url = { scheme: "file", host: "", port: -1, path: "/a" };
    const file = { url, sizeBytes: 5, modificationTimeMs: 6, type: "FILE", visibility: "APPLICATION" } as const;
    const told = launchContextToWire({ localResources: { a: file }, commands: [] });
    expect(told.localResources?.[0]?.value?.resource).toEqual({ scheme: "file", file: "/a" });
    expect(told).not.toHaveProperty("tokens");
    expect(told).not.toHaveProperty("tokens_conf");
    expect(told).toMatchObject({ environment: [], command: [], application_ACLs: [] });
    expect(launchContextToWire({ commands: [], acls: { modifiers: "eve" } }).application_ACLs).toEqual([
      { accessType: yarn.ApplicationAccessTypeProto.APPACCESS_MODIFY_APP, acl: "eve" },
    ]);
  });
});

test("a number that a newer server sends reads as what is least assumed", () => {
  expect(containerStatusFromWire({ container_id: containerIdToWire(id) }).state).toBe("NEW");
  expect(localResourceTypes.fromWire(undefined)).toBe("FILE");
  expect(resourceVisibilities.fromWire(undefined)).toBe("APPLICATION");
});
