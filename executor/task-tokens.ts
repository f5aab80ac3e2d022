import path from "node:path";
import { withoutOwnSecrets } from "../src/api/identity.ts";
import { type Credentials, renewedCredentials } from "../src/hadoop/security/credentials.ts";
import { readTokenFile, writeTokenFile } from "../src/hadoop/security/token-file.ts";
import { PROGRAM_TOKENS } from "../src/job/launch/container-names.ts";
import { replaceFile } from "../src/local-files.ts";

/**
 * The user's delegation tokens and secrets in a task's container: the executor opens file systems with them, and its program finds them in
 * a file that only its user can read. The secret with which the executor speaks to the ApplicationMaster is not in it.
 */
export class TaskTokens {
  readonly file: string;
  #held: Credentials;

  private constructor(file: string, held: Credentials) {
    this.file = file;
    this.#held = held;
  }

  /** @param credentials as YARN gave them to the container */
  static open(workFolder: string, credentials: Credentials): TaskTokens {
    const secrets = withoutOwnSecrets(credentials.secrets);
    const tokens = new TaskTokens(path.join(workFolder, PROGRAM_TOKENS), { ...credentials, secrets });
    tokens.#write();
    return tokens;
  }

  /** The newest. */
  readonly held = (): Credentials => this.#held;

  /**
   * Takes newer tokens in place of those before. A program that reads its file meanwhile finds one version or the other, complete.
   * @param file the newer ones, a token file's bytes
   */
  async renew(file: Uint8Array): Promise<void> {
    this.#held = renewedCredentials(this.#held, readTokenFile(file).tokens);
    this.#write();
  }

  #write(): void {
    replaceFile(this.file, writeTokenFile(this.#held), { mode: 0o600 });
  }
}
