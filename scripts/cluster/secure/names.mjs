/** What is called how, and where, on a secure cluster. */

export const REALM = "TONY.TEST";
export const KDC_PORT = 10088;

/** Of the key management server, which holds the keys of encryption zones. */
export const KMS_PORT = 9600;

/**
 * Who may submit: alice, bob, who has no right to anything of alice's, carol, who may look at what is shared with her, and `nohome`, who has
 * no home in HDFS.
 */
export const PEOPLE = ["alice", "bob", "carol", "nohome"];

/**
 * Principals whose first part is another one's name: what the cluster's rules call them, by their keytabs' names, where `-` stands for `/`.
 */
export const CALLED = { "alice-away": "bob", "bob-away": "carol" };

/** A service that submits in the names of others, as Azkaban and Oozie do. */
export const PROXY_SERVICE = "azkaban";

/** The keytab of all web servers, which daemons of both users read. */
export const WEB_KEYTAB = "http";

/** An encryption zone, and its key, by which the KMS lets nobody decrypt but its owner and the daemons of HDFS. */
export const ZONE = { path: "/encrypted", key: "alice", owner: "alice" };
