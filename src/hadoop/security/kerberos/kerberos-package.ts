/** What is used of the optional package kerberos. */
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
  /** What goes to the server, in base64; empty: nothing. */
  readonly response: string;
  /** @param challenge what came from the server, in base64 */
  step(challenge: string): Promise<string>;
}
