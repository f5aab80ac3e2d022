/** A security token (org.apache.hadoop.security.token.Token); identifier and password are opaque. */
export interface Token {
  readonly identifier: Uint8Array;
  readonly password: Uint8Array;
  /** One of TokenKind, or a kind of another service. */
  readonly kind: string;
  /** The service that accepts it: `ip:port`, `ha-hdfs:nameservice`; empty if the kind alone determines it. */
  readonly service: string;
}

/** Kinds of tokens, as their Java classes name them (`TokenIdentifier#getKind`). */
export const TokenKind = {
  /** Grants one application attempt access to the ResourceManager's scheduler. */
  applicationMaster: "YARN_AM_RM_TOKEN",
  node: "NMToken",
  container: "ContainerToken",
  resourceManagerDelegation: "RM_DELEGATION_TOKEN",
  hdfsDelegation: "HDFS_DELEGATION_TOKEN",
  webHdfsDelegation: "WEBHDFS delegation",
  secureWebHdfsDelegation: "SWEBHDFS delegation",
  keyManagement: "kms-dt",
  timeline: "TIMELINE_DELEGATION_TOKEN",
  client: "YARN_CLIENT_TOKEN",
} as const;
