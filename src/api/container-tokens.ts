import { readFileSync } from "node:fs";
import type { Credentials } from "../hadoop/security/credentials.ts";
import { readTokenFile, writeTokenFile } from "../hadoop/security/token-file.ts";
import { replaceFile } from "../local-files.ts";
import { isOwnSecret, withoutOwnSecrets } from "./identity.ts";

/**
 * A container's token file. The secrets of tony-ts itself are taken out of it by the program that they are for: whatever that one starts
 * finds the user's tokens and secrets there, and no others.
 */
export class ContainerTokens {
  /** As the file was, our secrets included. */
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

  /** For the program that is started in this one's place. What else has become of the file meanwhile stays. */
  putBack(): void {
    const own = [...this.credentials.secrets].filter(([name]) => isOwnSecret(name));
    this.#write((secrets) => new Map([...secrets, ...own]));
  }

  #write(change: (secrets: Credentials["secrets"]) => Credentials["secrets"]): void {
    const { tokens, secrets } = readTokenFile(readFileSync(this.#file));
    replaceFile(this.#file, writeTokenFile({ tokens, secrets: change(secrets) }), { mode: 0o600 });
  }
}
