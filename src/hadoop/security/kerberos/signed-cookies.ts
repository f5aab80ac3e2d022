const cookieName = "hadoop.auth";

/**
 * The cookies by which web servers know for some hours who has proved himself
 * (org.apache.hadoop.security.authentication.client.AuthenticatedURL), each for the server that gave it. One is as good as a ticket to
 * whoever reads it: over http none is kept.
 */
export class SignedCookies {
  readonly #byOrigin = new Map<string, string>();

  /** The value of the header `Cookie`. */
  for(url: URL): string | undefined {
    return this.#byOrigin.get(url.origin);
  }

  forget(url: URL): void {
    this.#byOrigin.delete(url.origin);
  }

  /** @param given values of `Set-Cookie` */
  keep(url: URL, given: readonly string[]): void {
    if (url.protocol !== "https:") return;
    for (const text of given) {
      const [pair = ""] = text.split(";");
      const value = pair.trim().startsWith(`${cookieName}=`) ? pair.trim().slice(cookieName.length + 1) : undefined;
      if (value === undefined) continue;
      if (value.replaceAll('"', "") === "") this.forget(url);
      else this.#byOrigin.set(url.origin, `${cookieName}=${value}`);
    }
  }
}
