import { type ClientAccess, parseClientAccess, tokenAccess } from "../../src/api/identity.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { Token } from "../../src/hadoop/security/token.ts";

export interface MasterAccessOptions {
  /** What the staging folder of an application has for its owner. Rejects where it is gone, or is somebody else's. */
  readonly read: (id: string) => Promise<Buffer>;
  /** On a secure cluster: the ResourceManager's token, which is there for those who may see the application. */
  readonly token?: (id: string) => Promise<Pick<Token, "identifier" | "password"> | undefined>;
}

/** What a client proves itself by to AMs, each looked for once. */
export class MasterAccess {
  readonly #options: MasterAccessOptions;
  /** By application; a token, which is for one attempt alone, by that. */
  readonly #known = new Map<string, ClientAccess>();
  #problem: unknown;

  constructor(options: MasterAccessOptions) {
    this.#options = options;
  }

  /** What a submission just made need not be read again. */
  remember(access: ClientAccess): void {
    this.#known.set(access.applicationId, access);
  }

  /** Undefined where the caller has none. */
  async of(id: string, attemptId: string): Promise<ClientAccess | undefined> {
    return this.#known.get(id) ?? this.#known.get(attemptId) ?? (await this.#byToken(id, attemptId)) ?? this.#read(id);
  }

  async #byToken(id: string, attemptId: string): Promise<ClientAccess | undefined> {
    const token = await this.#options.token?.(id);
    if (token === undefined) return undefined;
    const access = tokenAccess(id, token);
    this.#known.set(attemptId, access);
    return access;
  }

  async #read(id: string): Promise<ClientAccess | undefined> {
    try {
      const access = parseClientAccess((await this.#options.read(id)).toString("utf8"));
      this.#known.set(id, access);
      return access;
    } catch (error) {
      this.#problem = error;
      return undefined;
    }
  }

  /** Why the caller, whose the application is, has none, as the last look into the staging folder showed; in words. */
  whyNone(user: string): string {
    if (this.#problem === undefined) return "the ResourceManager does not say where it is";
    switch (errorCode(this.#problem)) {
      case "UNREACHABLE":
      case "TIMEOUT":
      case "CONNECTION_LOST":
        return "HDFS, which has the credentials for reaching it, does not answer";
      case "ACCESS_DENIED":
        return `only ${user} may read its staging folder, which has the credentials for reaching it`;
      case "FILE_NOT_FOUND":
        return "its staging folder, which has the credentials for reaching it, does not exist";
      default:
        return `the credentials for reaching it cannot be read: ${errorMessage(this.#problem)}`;
    }
  }
}
