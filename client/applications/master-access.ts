import { type ClientAccess, parseClientAccess, tokenAccess } from "../../src/api/identity.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { Token } from "../../src/hadoop/security/token.ts";

export interface MasterAccessOptions {
  /** Reads the owner's secret from an application's staging folder. Rejects where the folder is gone, or is another user's. */
  readonly read: (id: string) => Promise<Buffer>;
  /** On a secure cluster: the ResourceManager's token, which everyone who may see the application gets. */
  readonly token?: (id: string) => Promise<Pick<Token, "identifier" | "password"> | undefined>;
}

/** The credentials that the client shows to AMs; each is looked up once. */
export class MasterAccess {
  readonly #options: MasterAccessOptions;
  /** By application; a token, which is valid for one attempt alone, by attempt. */
  readonly #known = new Map<string, ClientAccess>();
  #problem: unknown;

  constructor(options: MasterAccessOptions) {
    this.#options = options;
  }

  /** A submission that this process just made: its secret need not be read again. */
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

  /** Why the caller, who owns the application, has none, in words: as the last look into the staging folder showed. */
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
