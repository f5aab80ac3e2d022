import { type ChildProcess, spawn } from "node:child_process";
import { programPath } from "../../src/programs.ts";

/** What a run of the bundled `tony-ts` gave. */
export interface TonyTsResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The bundled `tony-ts`, or another one, as a child process; without a cluster unless `environment` names one. */
export class TonyTs {
  readonly process: ChildProcess;
  readonly ended: Promise<TonyTsResult>;
  #stdout = "";
  #stderr = "";
  readonly #looks = new Set<() => void>();

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    workingDirectory?: string,
    program: string = programPath("tony-ts"),
  ) {
    const { HADOOP_CONF_DIR: _conf, HADOOP_HOME: _home, ...inherited } = process.env;
    this.process = spawn(process.execPath, [program, ...args], {
      env: { ...inherited, ...environment },
      cwd: workingDirectory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      for (const look of this.#looks) look();
    });
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.process.on("close", (exitCode) => {
        resolve({ exitCode, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  /** Resolves with what the pattern found in the output; rejects when the program ends without it. */
  output(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(this.#stdout);
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

/** Runs it to its end. */
export function tonyTs(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  workingDirectory?: string,
): Promise<TonyTsResult> {
  return new TonyTs(args, environment, workingDirectory).ended;
}
