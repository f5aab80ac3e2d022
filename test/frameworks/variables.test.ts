import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import * as tables from "../../src/frameworks/variables.ts";
import { variablesPage } from "../../src/frameworks/variables-page.ts";
import { environmentOf, jobOf } from "./support.ts";

describe("docs/reference/variables.md", () => {
  test("is what the tables say: run `npm run docs` when this fails", () => {
    expect(readFileSync("docs/reference/variables.md", "utf8")).toBe(variablesPage());
  });

  test("names every variable", () => {
    const names = Object.values(tables).flatMap((table) => Object.keys(table));
    expect(names.filter((name) => !variablesPage().includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe("the tables", () => {
  const everything = {
    generation: 2,
    restarts: 1,
    restartReason: "worker:1 exited with 1",
    checkpoint: "step-200",
    progressFile: "/work/progress",
    noticeFile: "/work/notice",
    apiSocket: "/work/api/socket",
    tensorBoardPort: 6006,
    modelParameters: "depth=3",
    address: { host: "n1", port: 5000 },
    folders: { checkpoints: "/work/ckpt", output: "/work/results", outputDestination: "hdfs:///out/worker-0" },
  };
  const keys = { "tony.application.checkpoint-dir": "hdfs:///ckpt", "tony.task.progress-timeout": "10m" };
  const { PET_NODE_RANK: _, ...withoutRank } = tables.torchrunVariables;
  // The rest of its slot a process has from the rendezvous.
  const ofSlot = ["HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE", "HOROVOD_CROSS_RANK", "HOROVOD_CROSS_SIZE"];
  const beforeSlot = Object.fromEntries(
    Object.entries(tables.horovodVariables).filter(([name]) => !ofSlot.includes(name)),
  );
  test.each([
    ["generic", {}, {}],
    ["pytorch", tables.pytorchVariables, {}],
    ["deepspeed", { ...tables.pytorchVariables, ...tables.deepspeedVariables }, {}],
    ["torchrun", tables.torchrunVariables, {}],
    ["torchrun", { ...withoutRank, ...tables.elasticTorchrunVariables }, {}, { "tony.worker.min-instances": "1" }],
    ["tensorflow", tables.tensorflowVariables, {}],
    ["horovod", tables.horovodVariables, {}],
    ["horovod", { ...beforeSlot, ...tables.elasticHorovodVariables }, {}, { "tony.worker.min-instances": "1" }],
    ["jax", tables.jaxVariables, {}],
    ["mxnet", tables.mxnetVariables, { scheduler: 1, server: 1 }],
    ["dask", tables.daskVariables, { scheduler: 1 }],
    ["ray", tables.rayVariables, { head: 1 }],
  ] as const)(
    "have all that a program of %s is told, and nothing else",
    (framework, own, roles, more: Readonly<Record<string, string>> = {}) => {
      const spec = jobOf({ worker: 2, ...roles }, { ...keys, ...more, "tony.application.framework": framework });
      const told = Object.keys(environmentOf(spec, "worker:0", everything));
      expect(told.sort()).toEqual(Object.keys({ ...tables.programVariables, ...own }).sort());
    },
  );

  test("have all that tony-ts reads where it is typed or in a job, and nothing else", () => {
    const documented = Object.keys({ ...tables.clientVariables, ...tables.jobVariables });
    expect(variablesReadIn("client", "src")).toEqual(documented.sort());
  });

  test("have all that npm run reads in a checkout", () => {
    // The rest of scripts/test is told to Jest by the phases, and nobody types it.
    const texts = ["scripts/cluster", "scripts/prerequisites.mjs", "test/support/cluster-setup.mjs"].flatMap(textsIn);
    // What one of them writes for another is nobody's to set.
    const read = texts.flatMap((text) =>
      Array.from(text.matchAll(/\bprocess\.env\.(\w+)\b(?! = )/g), ([, name = ""]) => name),
    );
    const documented = Object.keys({ ...tables.checkoutVariables, PATH: "", XDG_CACHE_HOME: "" });
    expect([...new Set(read)].sort()).toEqual(documented.sort());
  });
});

/** Names of variables that the sources of these folders read from an environment: `environment.NAME`, or taken apart. */
function variablesReadIn(...folders: readonly string[]): string[] {
  const names = folders.flatMap(textsIn).flatMap((text) => {
    // `const { NAME } = environment`, and a parameter `{ NAME }: ClientContext["environment"]`.
    const takings = text.matchAll(/\{([^{}]*)\}(?: = (?:\w+\.)*environment\b|: \w+\["environment"\])/g);
    const apart = Array.from(takings, ([, inside = ""]) => inside);
    const single = Array.from(text.matchAll(/\benvironment\.([A-Z]\w+)/g), ([, name = ""]) => name);
    return [...single, ...apart.flatMap((inside) => inside.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? [])];
  });
  return [...new Set(names)].sort();
}

/** The texts of the sources in a folder, or of one file. */
function textsIn(place: string): string[] {
  const files = statSync(place).isFile()
    ? [place]
    : readdirSync(place, { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(ts|mjs)$/.test(name))
        .map((name) => path.join(place, name));
  return files.map((file) => readFileSync(file, "utf8"));
}
