import { buildJobSpec, type CheckedJob, type JobContext } from "../../src/job/build/build-spec.ts";
import { type FittingFacts, fitToCluster } from "../../src/job/build/load-job.ts";
import { formatProblem } from "../../src/job/problem.ts";
import { mergeSettings, type Setting } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/** Settings as lines of a file `job.xml`, the first on line 1. */
export function jobSettings(values: Readonly<Record<string, string>>): Setting[] {
  return Object.entries(values).map(([key, value], index) => ({
    key,
    value,
    layer: "job",
    at: `job.xml:${index + 1}`,
    file: "job.xml",
    final: false,
  }));
}

export function siteSetting(key: string, value: string, final = false): Setting {
  return { key, value, layer: "site", at: "tony-site.xml:1", file: "tony-site.xml", final };
}

export function optionSetting(key: string, value: string): Setting {
  return { key, value, layer: "option", at: "-conf", final: false };
}

/** The smallest job there is. */
export const minimalJob = { "tony.worker.instances": "2", "tony.containers.command": "python3 -m train" };

type TestContext = Partial<JobContext & FittingFacts>;

/** Builds a spec in a working directory in which every path is a file, and fits it to a cluster of which nothing else is known. */
export function check(values: Readonly<Record<string, string>>, context: TestContext = {}): CheckedJob {
  const { settings } = mergeSettings(jobSettings(values));
  const built = buildJobSpec(settings, { workingDirectory: "/home/ada", lookUp: () => "file", ...context });
  if (built.spec === undefined) return built;
  const fitted = fitToCluster(built.spec, settings, context);
  const { search } = built;
  return { ...fitted, ...(search && { search }), problems: [...built.problems, ...fitted.problems] };
}

/** The spec of a job that has no errors. */
export function specOf(values: Readonly<Record<string, string>>, context: TestContext = {}): JobSpec {
  const { spec, problems } = check({ ...minimalJob, ...values }, context);
  if (spec === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return spec;
}

/** What is said about a job, a line each. */
export function saidAbout(values: Readonly<Record<string, string>>, context: TestContext = {}): string[] {
  return check(values, context).problems.map(formatProblem);
}
