/** The optional package kerberos, which may not be installed where this is compiled. */
declare module "kerberos" {
  type Package = import("./kerberos-package.ts").KerberosPackage;
  const GSS_MECH_OID_SPNEGO: Package["GSS_MECH_OID_SPNEGO"];
  const GSS_C_MUTUAL_FLAG: Package["GSS_C_MUTUAL_FLAG"];
  const GSS_C_SEQUENCE_FLAG: Package["GSS_C_SEQUENCE_FLAG"];
  const initializeClient: Package["initializeClient"];
}
