import { AuthenticationError } from "../../security/errors.ts";
import type { MechanismOffer } from "../../security/sasl/mechanism.ts";
import type { RemoteError } from "../remote-error.ts";

/** Kerberos (RFC 4752) is not spoken here: what people see when a server asks for it and takes nothing that we have. */
export function kerberosNeeded(offer?: MechanismOffer): AuthenticationError {
  const principal = offer?.protocol ? ` (service principal ${offer.protocol}/${offer.serverId})` : "";
  return new AuthenticationError(
    `This cluster asks for Kerberos${principal}, which is not supported yet; tokens and, on open clusters, user names are`,
    { code: "KERBEROS_NEEDED" },
  );
}

/** Whether a server refused a bare user name because it wants Kerberos (org.apache.hadoop.ipc.Server#initializeAuthContext). */
export function refusedForKerberos({ code, javaMessage }: RemoteError): boolean {
  const refusal = javaMessage.indexOf("SIMPLE authentication is not enabled");
  return code === "ACCESS_DENIED" && refusal >= 0 && javaMessage.includes("KERBEROS", refusal);
}
