import { readFile } from "node:fs/promises";
import { errorMessage } from "../../errors.ts";
import { AuthenticationError } from "../errors.ts";
import type { GssApi, GssCredential, KeytabLogin } from "./gss-api.ts";
import { type KerberosAttempt, kerberosError } from "./kerberos-trouble.ts";
import { keytabPrincipals } from "./keytab.ts";
import { loadGssApi } from "./libgssapi.ts";
import { ticketCache } from "./ticket-cache.ts";

/** Our Kerberos login: with a keytab, or with the tickets that the environment names (KRB5CCNAME, KRB5_CLIENT_KTNAME). */
export class KerberosLogin {
  readonly keytab: KeytabLogin | undefined;
  readonly #load: () => Promise<GssApi>;
  #api: Promise<GssApi> | undefined;
  #acquiring: Promise<GssCredential> | undefined;

  /** @param load loads the Kerberos library when it is first needed; default is the machine's */
  constructor(keytab?: KeytabLogin, load: () => Promise<GssApi> = loadGssApi) {
    this.keytab = keytab;
    this.#load = load;
  }

  /** Who logs in and how, for error messages. */
  get attempt(): KerberosAttempt {
    return this.keytab === undefined ? { cache: ticketCache(process.env) } : { login: this.keytab };
  }

  /** @throws AuthenticationError with code `KERBEROS_LIBRARY_MISSING` */
  api(): Promise<GssApi> {
    this.#api ??= this.#load();
    return this.#api;
  }

  /**
   * The ticket, looked up again each time: people may run kinit meanwhile, and a keytab's ticket is renewed when half its lifetime is over.
   * @throws AuthenticationError that says what is wrong with it
   */
  credential(): Promise<GssCredential> {
    // One at a time: the library fills the ticket store in several steps.
    this.#acquiring ??= this.#acquire().finally(() => {
      this.#acquiring = undefined;
    });
    return this.#acquiring;
  }

  /** The realm of names without one. @throws AuthenticationError if krb5.conf names none */
  defaultRealm(): Promise<string> {
    return this.#ask((api) => api.defaultRealm());
  }

  /** The realm of a host by krb5.conf. @throws AuthenticationError if it has no entry for the host and no default */
  realmOf(host: string): Promise<string> {
    return this.#ask((api) => api.realmOf(host));
  }

  async #acquire(): Promise<GssCredential> {
    if (this.keytab !== undefined) await checkKeytab(this.keytab);
    return await this.#ask((api) => api.acquire(this.keytab));
  }

  async #ask<T>(question: (api: GssApi) => Promise<T>): Promise<T> {
    const api = await this.api();
    try {
      return await question(api);
    } catch (cause) {
      throw kerberosError(cause, this.attempt);
    }
  }
}

/** For a keytab that it cannot use, the library reports only "no credentials". */
async function checkKeytab({ principal, keytab }: KeytabLogin): Promise<void> {
  const trouble = (message: string, mend = `klist -kt ${keytab} shows what it holds`, cause?: unknown) =>
    new AuthenticationError(`Cannot log in as ${principal}: ${message}\n  ${mend}`, { code: "KERBEROS_KEYTAB", cause });
  const bytes = await readFile(keytab).catch((cause: unknown) => {
    const words = `its keytab ${keytab} cannot be read: ${errorMessage(cause)}`;
    throw trouble(words, `kadmin makes one: ktadd -k ${keytab} ${principal}`, cause);
  });
  const held = keytabPrincipals(bytes);
  if (held === undefined) throw trouble(`${keytab} is not a keytab`);
  const isHeld = held.some((name) => name === principal || name.startsWith(`${principal}@`));
  if (!isHeld) throw trouble(`the keytab ${keytab} is of ${held.join(", ") || "nobody"}`);
}
