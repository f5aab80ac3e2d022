/** The part of the optional package kerberos that is used. */
export interface KerberosPackage {
  readonly GSS_MECH_OID_SPNEGO: number;
  readonly GSS_C_MUTUAL_FLAG: number;
  readonly GSS_C_SEQUENCE_FLAG: number;
  initializeClient(
    service: string,
    options: { readonly mechOID: number; readonly gssFlag: number },
  ): Promise<KerberosClient>;
}

export interface KerberosClient {
  readonly contextComplete: boolean;
  /** The message for the server, in base64; empty: none. */
  readonly response: string;
  /** @param challenge the server's message, in base64 */
  step(challenge: string): Promise<string>;
}
