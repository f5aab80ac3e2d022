import { readFileSync } from "node:fs";
import type { Credentials } from "../hadoop/security/credentials.ts";
import { readTokenFile, writeTokenFile } from "../hadoop/security/token-file.ts";
import { replaceFile } from "../local-files.ts";
import { isOwnSecret, withoutOwnSecrets } from "./identity.ts";

/**
 * A container's token file. The program that tony-ts's own secrets are for removes them from the file, so whatever that program starts
 * finds only the user's tokens and secrets there.
 */
export class ContainerTokens {
  /** The file's original content, including our secrets. */
  readonly credentials: Credentials;
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
    this.credentials = readTokenFile(readFileSync(file));
  }

  /** Throws a HadoopError with code `TOKEN_FILE_MALFORMED`, or an error of Node's where the file cannot be read and written. */
  static take(file: string): ContainerTokens {
    const tokens = new ContainerTokens(file);
    tokens.#write((secrets) => withoutOwnSecrets(secrets));
    return tokens;
  }

  /** Restores them for a program that replaces this one. Other changes to the file since then are kept. */
  putBack(): void {
    const own = [...this.credentials.secrets].filter(([name]) => isOwnSecret(name));
    this.#write((secrets) => new Map([...secrets, ...own]));
  }

  #write(change: (secrets: Credentials["secrets"]) => Credentials["secrets"]): void {
    const { tokens, secrets } = readTokenFile(readFileSync(this.#file));
    replaceFile(this.#file, writeTokenFile({ tokens, secrets: change(secrets) }), { mode: 0o600 });
  }
}
