import { statSync } from "node:fs";
import path from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { ModelParameters, parametersIn, partInParameters } from "../../../executor/preparation/model-parameters.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

function parameters(): ModelParameters {
  const configuration = new Configuration();
  const credentials = simpleCredentials({ name: "alice" });
  return new ModelParameters({
    stagingUrl: `file://${folder.path}`,
    open: async () => new FileSystems({ configuration, credentials }),
  });
}

describe("what the program that runs first has found", () => {
  test("is what its last line of parameters says", () => {
    expect(parametersIn("Model parameters: a=1\nloss 3\nModel parameters: --depth 3 'a b'\n")).toBe("--depth 3 'a b'");
    expect(parametersIn("no Model parameters: here\n")).toBeUndefined();
  });

  test("is read by every executor after it was kept", async () => {
    await parameters().keep("Model parameters: depth=3\n");
    expect(await parameters().read()).toBe("depth=3");
  });

  test("is what the last try of that program has found, for its user alone to read", async () => {
    const closed = jest.spyOn(FileSystems.prototype, "close");
    for (const depth of [30, 4]) await parameters().keep(`Model parameters: depth=${depth}\n`);
    expect(await parameters().read()).toBe("depth=4");
    expect(statSync(path.join(folder.path, "model-parameters")).mode & 0o777).toBe(0o600);
    expect(closed).toHaveBeenCalledTimes(3);
    closed.mockRestore();
  });

  test("is nothing where it told none", async () => {
    await parameters().keep("done\n");
    expect(await parameters().read()).toBeUndefined();
  });

  test("is told by the task in the ApplicationMaster's container to all others", () => {
    const driver = aRole("driver", 1, { inMaster: true });
    const spec = aJobSpec({ roles: [driver, aRole("worker", 1)] });
    expect(partInParameters(spec, { role: "driver", index: 0 })).toBe("tells");
    expect(partInParameters(spec, { role: "worker", index: 0 })).toBe("is told");
    expect(partInParameters(aJobSpec({ roles: [driver] }), { role: "driver", index: 0 })).toBe("none");
    expect(partInParameters(aJobSpec(), { role: "worker", index: 0 })).toBe("none");
  });
});
