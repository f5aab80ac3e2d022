/** How a client proves who it is: `simple` or `kerberos`. */
export const authenticationKey = "hadoop.security.authentication";
/** Whether a client that can prove who it is may call a server that asks for no proof. */
export const fallbackKey = "ipc.client.fallback-to-simple-auth-allowed";
/** How RPC's traffic is protected: `authentication`, `integrity`, `privacy`, or several of them. */
export const protectionKey = "hadoop.rpc.protection";
/**
 * The certificates, as PEM, that may sign those of web servers; absent: Node's own. No key of Hadoop's: a program that has read the trust
 * store puts it into the configuration, which travels to containers, where that file is not.
 */
export const trustedCertificatesKey = "ssl.client.truststore.pem";

/** What configuredCredentials reads of a configuration. */
export const securityKeys: readonly string[] = [authenticationKey, fallbackKey, protectionKey, trustedCertificatesKey];
