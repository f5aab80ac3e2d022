import { RpcAuthenticationError } from "../errors.ts";
import type { MechanismOffer } from "./mechanism.ts";

/** Kerberos (RFC 4752) is not spoken here: what people see when a server asks for it and takes nothing that we have. */
export function kerberosNeeded(offer: MechanismOffer): RpcAuthenticationError {
  const principal = offer.protocol === "" ? "" : `, service principal ${offer.protocol}/${offer.serverId}`;
  return new RpcAuthenticationError(
    `This cluster asks for Kerberos (${offer.mechanism}${principal}), which is not supported yet; tokens and user names are`,
    { code: "KERBEROS_NEEDED" },
  );
}
