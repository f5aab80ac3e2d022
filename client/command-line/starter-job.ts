import { findKey } from "../../src/job/keys.ts";

/** What `tony-ts init` can start from, and the folder under `examples/` that it copies for each. */
export const starters = {
  hello: "hello",
  pytorch: "pytorch-digits",
  tensorflow: "tensorflow-ps",
  torchrun: "torchrun",
  deepspeed: "deepspeed",
  horovod: "horovod",
  jax: "jax",
  dask: "dask",
  ray: "ray",
  mpi: "mpi",
  generic: "generic",
  search: "search-digits",
} as const;
export type Starter = keyof typeof starters;

export function isStarter(name: string): name is Starter {
  return Object.hasOwn(starters, name);
}

/** The keys that people need next, each with a first value. */
const FURTHER_KEYS: readonly (readonly [string, string])[] = [
  ["tony.yarn.queue", "default"],
  ["tony.worker.vcores", "2"],
  ["tony.worker.gpus", "1"],
  ["tony.worker.node-label", "gpu"],
  ["tony.worker.placement", "spread"],
  ["tony.execution.envs", "NAME=value,OTHER=value"],
  ["tony.am.retry-count", "2"],
  ["tony.application.timeout", "8h"],
  ["tony.checkpoint.local-dir", "checkpoints"],
  ["tony.application.checkpoint-dir", "tony-checkpoints/my-model"],
  ["tony.output.local-dir", "results"],
  ["tony.output.dir", "tony-results/my-model"],
];

/** Trials of a search have a retry budget of their own in place of the job's. */
function furtherKeysOf(jobXml: string): typeof FURTHER_KEYS {
  if (!jobXml.includes("tony.search.")) return FURTHER_KEYS;
  return FURTHER_KEYS.map(([key, value]) => [key === "tony.am.retry-count" ? "tony.search.retry-count" : key, value]);
}

/** A job's file with the keys that it does not set yet in comments at its end, each with its meaning, for a person to edit. */
export function withFurtherKeys(jobXml: string): string {
  const further = furtherKeysOf(jobXml)
    .filter(([key]) => !jobXml.includes(`<name>${key}</name>`))
    .map(([key, value]) => {
      const doc = findKey(key)?.definition.doc ?? "";
      return `  <!-- ${doc}\n  <property><name>${key}</name><value>${value}</value></property> -->\n`;
    });
  const block = `\n  <!-- More keys: remove the comment marks around one to use it. All keys: tony-ts keys -->\n${further.join("")}`;
  return jobXml.replace(/\s*<\/configuration>\s*$/, () => `\n${block}</configuration>\n`);
}
