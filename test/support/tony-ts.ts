import { type ChildProcess, spawn } from "node:child_process";
import { programPath } from "../../src/programs.ts";
import { type ClientRun, clientRuns } from "./client-runs.ts";

/** The result of a run of the bundled `tony-ts`. */
export interface TonyTsResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The bundled `tony-ts`, or another one, as a child process; without a cluster unless `environment` names one. */
export class TonyTs implements ClientRun {
  readonly words: readonly string[];
  readonly environment: ClientRun["environment"];
  readonly process: ChildProcess;
  readonly ended: Promise<TonyTsResult>;
  readonly printed = { stdout: "", stderr: "" };
  end: string | undefined;
  readonly #looks = new Set<() => void>();

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    workingDirectory?: string,
    program: string = programPath("tony-ts"),
  ) {
    const { HADOOP_CONF_DIR: _conf, HADOOP_HOME: _home, ...inherited } = process.env;
    this.words = args;
    this.environment = { ...inherited, ...environment };
    this.process = spawn(process.execPath, [program, ...args], {
      env: this.environment,
      cwd: workingDirectory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    clientRuns.add(this);
    for (const stream of ["stdout", "stderr"] as const) {
      this.process[stream]?.setEncoding("utf8").on("data", (text: string) => {
        this.printed[stream] += text;
        for (const look of this.#looks) look();
      });
    }
    const startedAtMs = performance.now();
    this.ended = new Promise((resolve) => {
      this.process.on("close", (exitCode, signal) => {
        const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
        this.end = `${exitCode === null ? signal : `exit code ${exitCode}`} after ${seconds} s`;
        resolve({ exitCode, ...this.printed });
      });
    });
  }

  /** Resolves with what the pattern matches in the output; rejects when the program ends without a match. */
  output(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.printed.stdout);
        if (found === null) return;
        this.#looks.delete(look);
        resolve(found);
      };
      this.#looks.add(look);
      look();
      void this.ended.then(({ stdout, stderr }) => {
        reject(new Error(`tony-ts ended without ${pattern}:\n${stdout}\n${stderr}`));
      });
    });
  }
}

/** Runs `tony-ts` to its end. */
export function tonyTs(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  workingDirectory?: string,
): Promise<TonyTsResult> {
  return new TonyTs(args, environment, workingDirectory).ended;
}
