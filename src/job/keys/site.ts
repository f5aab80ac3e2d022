import { key } from "./key.ts";
import {
  boolean,
  clusterFolder,
  duration,
  integer,
  limit,
  list,
  memory,
  path,
  pathUnless,
  text,
  timeZone,
  webPlace,
} from "./types.ts";

const play = { support: "ignored-with-warning", note: "a setting of TonY's own web server" } as const;

const noPortal = {
  support: "ignored-with-warning",
  note: "tony-ts portal, list and status show jobs that run and that have ended",
} as const;

/** TonY's client does not read them: only com.linkedin.tony's portal (hadoop.Requirements) logs in with them. */
const portalLogin = {
  support: "ignored-with-warning",
  note: "it is the login of TonY's portal; the client logs in by tony.kerberos.keytab and tony.kerberos.principal",
} as const;

/** Where things are stored, and the history server: mostly set once for a site, in tony-site.xml. */
export const siteKeys = {
  "tony.staging-dir": key({
    type: clusterFolder,
    doc: "Folder for the files that a running job needs; default <home>/.tony-ts.",
    support: "works",
    ours: true,
  }),
  "tony.cache.dir": key({
    type: clusterFolder,
    doc: "Folder for the files that jobs share, stored by their content; default <home>/.tony-ts/cache. That default also replaces entries that an untrusted user made in this folder, and stores a job's own files if another user owns the folder.",
    support: "works",
    ours: true,
  }),
  "tony.cache.trusted-owners": key({
    type: list,
    default: "",
    doc: "Users, besides the submitter, whose cache entries may be run, and who may own the folders that contain the cache and the staging folders.",
    support: "works",
    ours: true,
  }),
  "tony.security.allow-cleartext": key({
    type: boolean,
    default: "false",
    doc: "On a cluster with Kerberos: submit jobs although hadoop.rpc.protection is not privacy, so that anyone who listens on its network can read the keys and delegation tokens of jobs. Without it such a job is refused.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary": key({
    type: path,
    doc: "The Node runtime: a path on this machine or an hdfs:// URL, which is shipped, or local:/path of one that every node has; default the one that runs tony-ts.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary.x64": key({
    type: path,
    doc: "The same for x86_64 nodes, in a cluster that also has others: each container picks by its node's architecture.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary.arm64": key({
    type: path,
    doc: "The same for aarch64 nodes.",
    support: "works",
    ours: true,
  }),
  "tony.security.ca-file": key({
    type: path,
    doc: "PEM file with the CA certificates of the cluster's web servers; default the trust store of ssl-client.xml (JKS, PKCS #12, PEM), otherwise the CAs that Node trusts, including NODE_EXTRA_CA_CERTS.",
    support: "works",
    ours: true,
  }),
  "tony.hdfs.endpoint": key({
    type: path,
    doc: "HTTP address of HttpFS or Knox to use instead of the NameNode's WebHDFS.",
    support: "works",
    ours: true,
  }),
  "tony.hdfs.node-endpoint": key({
    type: path,
    doc: "The same for the cluster's nodes, if they reach another one than the client; namenode: the NameNode itself; default tony.hdfs.endpoint.",
    support: "works",
    ours: true,
  }),
  "tony.history.location": key({
    type: pathUnless("/path/to/tony-history"),
    spec: ["history", "location"],
    doc: "Folder for the history of jobs. TonY's default, /path/to/tony-history, means none here.",
    support: "works",
  }),
  "tony.history.intermediate": key({
    type: pathUnless("/path/to/tony-history/intermediate"),
    spec: ["history", "intermediate"],
    doc: "Folder for the history of running jobs; default `intermediate` below tony.history.location.",
    support: "works",
  }),
  "tony.history.finished": key({
    type: pathUnless("/path/to/tony-history/finished"),
    spec: ["history", "finished"],
    doc: "Folder to which a job's history moves at its end, sorted by day, if the job's user may write there; default `finished` below tony.history.location.",
    support: "works",
  }),
  "tony.history.finished-dir-timezone": key({
    type: timeZone,
    spec: ["history", "timeZone"],
    default: "UTC",
    doc: "Time zone of the folders by day.",
    support: "works",
  }),
  "tony.history.mover-interval-ms": key({
    type: duration("ms"),
    default: "300000",
    doc: "How often `tony-ts portal --maintain` moves finished jobs that did not move themselves.",
    support: "works",
  }),
  "tony.history.retention-sec": key({
    type: duration("s"),
    default: "2592000",
    doc: "How long `tony-ts portal --maintain` keeps the history of a job after its end.",
    support: "works",
  }),
  "tony.history.retention-failed-sec": key({
    type: duration("s"),
    default: "7776000",
    doc: "The same for jobs that did not succeed, if that is longer.",
    support: "works",
    ours: true,
  }),
  "tony.history.max-jobs": key({
    type: limit,
    default: "-1",
    doc: "How many jobs it keeps: beyond that the oldest are removed, successful ones first.",
    support: "works",
    ours: true,
  }),
  "tony.history.max-size": key({
    type: memory,
    doc: "How much it keeps in total, such as 500g, in the same way.",
    support: "works",
    ours: true,
  }),
  "tony.history.purger-interval-ms": key({
    type: duration("ms"),
    default: "21600000",
    doc: "How often it removes jobs that are too old or too many.",
    support: "works",
  }),
  "tony.portal.url": key({
    type: webPlace,
    spec: ["am", "portalUrl"],
    doc: "Where the portal is: an ended job's address in YARN leads there.",
    support: "works",
  }),
  "tony.portal.state-dir": key({
    type: path,
    doc: "Folder on its machine where `tony-ts portal` stores what it has read of the history, so that it does not read everything at each start.",
    support: "works",
    ours: true,
  }),
  "tony.portal.tls-certificate": key({
    type: path,
    doc: "PEM file with the TLS certificate of `tony-ts portal` and its chain. With it users can log in at the portal itself, by Kerberos or a client certificate.",
    support: "works",
    ours: true,
  }),
  "tony.portal.tls-key": key({ type: path, doc: "File (PEM) with its key.", support: "works", ours: true }),
  "tony.portal.spnego-keytab": key({
    type: path,
    doc: "Keytab of the principal `HTTP/` plus the host's name, with which the portal verifies Kerberos tickets.",
    support: "works",
    ours: true,
  }),
  "tony.portal.client-ca": key({
    type: path,
    doc: "PEM file with the CAs whose client certificates log users in at the portal: the common name (CN) is the user's name.",
    support: "works",
    ours: true,
  }),
  "tony.portal.cache.max-entries": key({ type: integer(), default: "10000", doc: "Size of its cache.", ...noPortal }),
  "tony.keytab.user": key({ type: text, default: "user1", doc: "Principal of TonY's portal.", ...portalLogin }),
  "tony.keytab.location": key({ type: path, doc: "Keytab of TonY's portal.", ...portalLogin }),
  "tony.kerberos.principal": key({
    type: text,
    doc: "Principal that the client logs in as, with the keytab of `tony.kerberos.keytab`.",
    support: "works",
    ours: true,
  }),
  "tony.kerberos.keytab": key({
    type: path,
    doc: "Keytab that the client logs in with on a cluster with Kerberos, instead of a kinit ticket.",
    support: "works",
    ours: true,
  }),
  "tony.kerberos.ship-keytab": key({
    type: boolean,
    default: "false",
    doc: "Ship the keytab of tony.kerberos.keytab with the job, so that the ApplicationMaster obtains new delegation tokens by itself, however long the job runs, with or without a client (as Spark does with spark.kerberos.keytab). Nodes need libgssapi_krb5 and krb5.conf.",
    support: "works",
    ours: true,
  }),
  "tony.http.port": key({ type: text, default: "disabled", doc: "Its plain port.", ...noPortal }),
  "tony.https.port": key({ type: integer({ max: 65_535 }), default: "19886", doc: "Its TLS port.", ...noPortal }),
  "tony.https.keystore.path": key({ type: path, doc: "Java key store of the portal.", ...play }),
  "tony.https.keystore.type": key({ type: text, default: "JKS", doc: "Its type.", ...play }),
  "tony.https.keystore.password": key({ type: text, default: "password", doc: "Its password.", ...play }),
  "tony.https.keystore.algorithm": key({ type: text, default: "SunX509", doc: "Its algorithm.", ...play }),
  "tony.secret.key": key({ type: text, default: "changeme", doc: "Secret of the Play framework.", ...play }),
  "tony.horovod.mode.test": key({
    type: boolean,
    default: "false",
    doc: "TonY's own tests of Horovod.",
    support: "ignored-with-warning",
    note: "TonY's own tests use it",
  }),
  "tony.horovod.mode.test.fast.fail": key({
    type: boolean,
    default: "false",
    doc: "The same, failing.",
    support: "ignored-with-warning",
    note: "TonY's own tests use it",
  }),
  "tony.horovod.driver.mode.debug": key({
    type: boolean,
    default: "false",
    doc: "Run the job's own Horovod driver (tony.driver.command).",
    support: "ignored-with-warning",
    note: "there is no driver: the executor of rank 0 serves the rendezvous",
  }),
  "tony.version-info.{field}": key({
    type: text,
    doc: "Written into tony-final.xml by TonY's client.",
    support: "ignored-with-warning",
    note: "TonY writes it, nothing reads it",
  }),
} as const;
