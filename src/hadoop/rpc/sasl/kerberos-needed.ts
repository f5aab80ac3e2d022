import { AuthenticationError } from "../../security/errors.ts";
import type { MechanismOffer } from "../../security/sasl/mechanism.ts";
import type { RemoteError } from "../remote-error.ts";

/** What people see when a server takes Kerberos alone, and the configuration here does not have it. */
export function kerberosNeeded(offer?: MechanismOffer): AuthenticationError {
  const principal = offer?.protocol ? ` (service principal ${offer.protocol}/${offer.serverId})` : "";
  return new AuthenticationError(
    `This cluster asks for Kerberos${principal}: hadoop.security.authentication must be kerberos in its core-site.xml here too`,
    { code: "KERBEROS_NEEDED" },
  );
}

/** And when it is the other way round: whoever answers at that address would be believed. */
export function serverNotSecure(): AuthenticationError {
  return new AuthenticationError(
    "The server asks for no proof of who we are, where hadoop.security.authentication is kerberos here\n" +
      "  is it the right one? ipc.client.fallback-to-simple-auth-allowed=true in core-site.xml lets it be called anyway",
    { code: "SERVER_NOT_SECURE" },
  );
}

/** Whether a server refused a bare user name because it wants Kerberos (org.apache.hadoop.ipc.Server#initializeAuthContext). */
export function refusedForKerberos({ code, javaMessage }: RemoteError): boolean {
  const refusal = javaMessage.indexOf("SIMPLE authentication is not enabled");
  return code === "ACCESS_DENIED" && refusal >= 0 && javaMessage.includes("KERBEROS", refusal);
}
