import { ExitCode, UserError } from "../errors.ts";

/** One problem that is found with a job before it runs. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** What is wrong and how to fix it; names the key. */
  readonly message: string;
  readonly key?: string;
  /** `job.xml:16`, `-conf`; absent when it was not set anywhere. */
  readonly at?: string;
}

/** `job.xml:16: tony.worker.memroy is not a key; did you mean tony.worker.memory?` */
export function formatProblem(problem: Problem): string {
  const place = problem.at === undefined ? "" : `${problem.at}: `;
  return `${place}${problem.severity === "warning" ? "warning: " : ""}${problem.message}`;
}

/** A problem with the value of one of the job's keys, with the place where the job sets it. */
export function keyProblem(
  severity: Problem["severity"],
  { sources }: { readonly sources: Readonly<Record<string, string>> },
  key: string,
  message: string,
): Problem {
  const at = sources[key];
  return { severity, message, key, ...(at === undefined ? {} : { at }) };
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === "error");
}

/** All errors of a job in one UserError (`JOB_INVALID`), one per line. */
export function invalidJob(problems: readonly Problem[]): UserError {
  const errors = problems.filter((problem) => problem.severity === "error");
  return new UserError(errors.map(formatProblem).join("\n"), { code: "JOB_INVALID" });
}

/** The same for a valid job that the cluster, or this machine, cannot run (`CLUSTER_REFUSES`). */
export function refusedJob(problems: readonly Problem[]): UserError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new UserError(errors.map(formatProblem).join("\n"), { code: "CLUSTER_REFUSES", exitCode: ExitCode.cluster });
}

/** Sorted by line within each file; files in the order of their first appearance, problems without a line last. */
export function inFileOrder(problems: readonly Problem[]): Problem[] {
  const places = problems.map((problem) => place(problem.at));
  const files = [...new Set(places.map(({ file }) => file))];
  const rank = ({ file, line }: Place) => (line === undefined ? files.length : files.indexOf(file)) * 1e9 + (line ?? 0);
  return problems
    .map((problem, index) => ({ problem, rank: rank(places[index] ?? place(undefined)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ problem }) => problem);
}

interface Place {
  readonly file: string;
  readonly line: number | undefined;
}

function place(at: string | undefined): Place {
  const [, file, line] = /^(.*):(\d+)$/.exec(at ?? "") ?? [];
  return file === undefined ? { file: at ?? "", line: undefined } : { file, line: Number(line) };
}
