/** How clients authenticate: `simple` or `kerberos`. */
export const authenticationKey = "hadoop.security.authentication";
/** Whether a client with Kerberos may call a server that demands no authentication. */
export const fallbackKey = "ipc.client.fallback-to-simple-auth-allowed";
/** How RPC traffic is protected: `authentication`, `integrity`, `privacy`, or several of them. */
export const protectionKey = "hadoop.rpc.protection";
/**
 * The certificates, as PEM, that may sign those of web servers; absent: Node's own. This is not one of Hadoop's keys: a program that has
 * read the trust store puts it into the configuration, which is shipped to containers, where that file does not exist.
 */
export const trustedCertificatesKey = "ssl.client.truststore.pem";

/** The keys that configuredCredentials reads. */
export const securityKeys: readonly string[] = [authenticationKey, fallbackKey, protectionKey, trustedCertificatesKey];
