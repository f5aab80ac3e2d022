import { describe, expect, it } from "@jest/globals";
import { pexVariables } from "../../../executor/generation/plan-program.ts";
import type { FileToShip } from "../../../src/job/spec.ts";

const pex: FileToShip = { source: "/home/ada/env.pex", name: "env.pex", as: "file" };
const other: FileToShip = { source: "/home/ada/train.py", name: "train.py", as: "file" };
const container = { LOCAL_DIRS: "/disk1/app_1,/disk2/app_1", HOME: "/home/" };

describe("a PEX that the job ships", () => {
  it("is unpacked in the application's folder of the node, which goes with the job", () => {
    expect(pexVariables(container, [other, pex])).toEqual({ PEX_ROOT: "/disk1/app_1/pex" });
  });

  it("is unpacked where the job says", () => {
    expect(pexVariables({ ...container, PEX_ROOT: "/var/pex" }, [pex])).toEqual({});
  });

  it("is left to itself where the container has no folder of the application", () => {
    expect(pexVariables({ HOME: "/home/ada" }, [pex])).toEqual({});
  });
});

it("a job without a PEX gets no variable for it", () => {
  expect(pexVariables(container, [other])).toEqual({});
});
