import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { type MonotonicClock, monotonicClock } from "../../src/hadoop/clock.ts";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { Credentials, NamedToken } from "../../src/hadoop/security/credentials.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { type HashedFile, type JobKeytab, sha256Of } from "../../src/job/stored/job-keytab.ts";
import type { Log } from "../../src/log.ts";
import { usedFileSystems } from "../../src/tokens/token-issuers.ts";
import { endOf, renewIntervalMs, TokenKeeper } from "../../src/tokens/token-keeper.ts";
import type { LoginRequest } from "./login-request.ts";

export interface KeytabTokensOptions {
  readonly job: JobFile;
  readonly keytab: JobKeytab;
  /** The keytab, from the staging folder. */
  readonly read: () => Promise<Uint8Array>;
  readonly held: () => Credentials;
  /** Gives new tokens to this process, and to executors and programs. */
  readonly take: (tokens: readonly NamedToken[]) => void;
  readonly log: Log;
  /** Runs the program that logs in; by default in a process of its own. @returns a token file */
  readonly run?: ((program: string, request: LoginRequest) => Promise<Uint8Array>) | undefined;
  readonly clock?: Pick<MonotonicClock, "sleep">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where the shipped files are; default: the working directory. */
  readonly folder?: string;
  readonly architecture?: string;
}

/** Keeps a job supplied with delegation tokens by its own keytab, without any client. */
export class KeytabTokens {
  readonly #options: KeytabTokensOptions;
  readonly #keeper: TokenKeeper;
  readonly #hadoop: Readonly<Record<string, string>>;
  #content: Uint8Array | undefined;

  constructor(options: KeytabTokensOptions) {
    const { job, keytab, held, take, log, now, clock = monotonicClock } = options;
    this.#options = options;
    this.#hadoop = { ...job.hadoop, ...keytab.hadoop };
    const intervalMs = renewIntervalMs(new Configuration().withValues(this.#hadoop));
    this.#keeper = new TokenKeeper({
      renewIntervalMs: intervalMs,
      endsAtMs: async () => {
        // Read early: once the tokens that open the staging folder have ended, the keytab can no longer be read there.
        await this.#keytab().catch(() => undefined);
        return endOf(held().tokens, intervalMs) ?? now();
      },
      obtain: () => this.#obtain(),
      hand: async (tokens) => take(tokens),
      problem: (error, leftMs) => {
        const when = leftMs === 0 ? "have ended" : `end in ${durationWords(leftMs)}`;
        log.warn(
          "tokens-not-obtained",
          `The delegation tokens ${when}, and there are no new ones yet: ${errorMessage(error)}`,
        );
      },
      now,
      clock,
    });
  }

  /** Resolves after `stop`. */
  run(): Promise<void> {
    return this.#keeper.run();
  }

  stop(): void {
    this.#keeper.stop();
  }

  async #keytab(): Promise<Uint8Array> {
    const { read, keytab } = this.#options;
    this.#content ??= checked(await read(), keytab.sha256, "the keytab");
    return this.#content;
  }

  async #obtain(): Promise<readonly NamedToken[]> {
    const { job, keytab, architecture = process.arch, run = runProgram } = this.#options;
    const native = Object.entries(keytab.nativeModules).find(([name]) => name === architecture)?.[1];
    if (native === undefined) {
      const sent = Object.keys(keytab.nativeModules).join(", ");
      throw new TonyError(`this node is ${architecture}, and koffi was sent for ${sent}`, { code: "KOFFI_NOT_SENT" });
    }
    const [program, nativeModule, content] = await Promise.all([
      this.#shipped(keytab.program),
      this.#shipped(native),
      this.#keytab(),
    ]);
    const answer = await run(program, {
      principal: keytab.principal,
      keytab: Buffer.from(content).toString("base64"),
      nativeModule,
      user: job.user,
      hadoop: this.#hadoop,
      used: usedFileSystems(job.spec, job.files, job.stagingUrl, job.hdfsEndpoint),
    });
    return readTokenFile(answer).tokens;
  }

  /** @returns the path of the file, once it is verified to be the one that was shipped */
  async #shipped({ link, sha256 }: HashedFile): Promise<string> {
    const file = path.resolve(this.#options.folder ?? "", link);
    checked(await readFile(file), sha256, link);
    return file;
  }
}

function checked(content: Uint8Array, sha256: string, what: string): Uint8Array {
  if (sha256Of(content) === sha256) return content;
  throw new TonyError(`${what} is not what was submitted`, { code: "SHIPPED_FILE_CHANGED" });
}

const limitMs = 60_000;
/**
 * A node may end the container for the virtual memory of both processes: without compiled code and V8's helper threads this one takes a
 * fifth of what Node 22 takes otherwise, and on Node 24 about 600 MiB.
 */
const options = ["--jitless", ...withoutWebAssembly(), "--v8-pool-size=0", "--max-old-space-size=64"];
const variables = { MALLOC_ARENA_MAX: "1", UV_THREADPOOL_SIZE: "2" };

/** WebAssembly needs compiled code; Node 20 and 22 warn of that unless it is turned off, and Node 24 has no such option. */
function withoutWebAssembly(): string[] {
  return Number.parseInt(process.versions.node, 10) < 24 ? ["--no-expose-wasm"] : [];
}

function runProgram(program: string, request: LoginRequest): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...variables };
    const limits = { encoding: "buffer", timeout: limitMs, killSignal: "SIGKILL", env } as const;
    const child = execFile(process.execPath, [...options, program], limits, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = stderr.toString("utf8").trim() || error.message;
      reject(new TonyError(said, { code: "LOGIN_FAILED", cause: error }));
    });
    // A process that ends without reading says why on its error output.
    child.stdin?.on("error", () => undefined).end(JSON.stringify(request));
  });
}
