/** Names on a secure cluster. */

export const REALM = "TONY.TEST";
export const KDC_PORT = 10088;

/** The port of the key management server, which keeps the keys of encryption zones. */
export const KMS_PORT = 9600;

/**
 * Who may submit: alice; bob, who has no access to anything of alice's; carol, who may read what is shared with her; and `nohome`, who has
 * no home in HDFS.
 */
export const PEOPLE = ["alice", "bob", "carol", "nohome"];

/**
 * Principals whose first part is another user's name, with the names that the cluster's rules give them; by their keytabs' names, in which
 * `-` stands for `/`.
 */
export const CALLED = { "alice-away": "bob", "bob-away": "carol" };

/** A service that submits on behalf of others, as Azkaban and Oozie do. */
export const PROXY_SERVICE = "azkaban";

/** The keytab of all web servers, which the daemons of both users read. */
export const WEB_KEYTAB = "http";

/** An encryption zone and its key, which the KMS lets only its owner and HDFS's daemons use. */
export const ZONE = { path: "/encrypted", key: "alice", owner: "alice" };
