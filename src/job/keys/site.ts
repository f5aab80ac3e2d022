import { key } from "./key.ts";
import { boolean, duration, integer, list, path, pathUnless, text } from "./types.ts";

const portal = { support: "not-yet", note: "the history server is not part of this release" } as const;
const image = {
  support: "not-yet",
  note: "without tony.docker.enabled, which is refused, TonY does not use it either",
} as const;
const docker = {
  refused: "true",
  note: "Docker is not supported yet, and the tasks would run outside of the image",
} as const;
const play = { support: "ignored-with-warning", note: "a setting of TonY's own web server" } as const;

/** Where things are kept, and the history server: mostly set once for a site, in tony-site.xml. */
export const siteKeys = {
  "tony.staging-dir": key({
    type: path,
    doc: "Folder for what a running job needs; default <home>/.tony-ts.",
    support: "works",
    ours: true,
  }),
  "tony.cache.dir": key({
    type: path,
    doc: "Folder for the files that jobs share, stored by their content; default <home>/.tony-ts/cache.",
    support: "works",
    ours: true,
  }),
  "tony.cache.trusted-owners": key({
    type: list,
    default: "",
    doc: "Users, besides the submitter, whose cache entries may be run.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary": key({
    type: path,
    doc: "The Node runtime: a path here or an hdfs:// URL, which is sent, or local:/path of one that every node has; default the one that runs tony-ts.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary.x64": key({
    type: path,
    doc: "The same for nodes that are x86_64, in a cluster that has others too: each container picks by its node's architecture.",
    support: "works",
    ours: true,
  }),
  "tony.node.binary.arm64": key({
    type: path,
    doc: "The same for nodes that are aarch64.",
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
    doc: "The same for the cluster's nodes, where they reach another one than the client; namenode: the NameNode itself; default tony.hdfs.endpoint.",
    support: "works",
    ours: true,
  }),
  "tony.history.location": key({
    type: pathUnless("/path/to/tony-history"),
    spec: ["history", "location"],
    doc: "Folder for the history of jobs. TonY's default, /path/to/tony-history, means none here.",
    support: "works",
  }),
  "tony.history.intermediate": key({ type: path, doc: "History of jobs that still run.", ...portal }),
  "tony.history.finished": key({ type: path, doc: "History of jobs that have ended.", ...portal }),
  "tony.history.mover-interval-ms": key({
    type: duration("ms"),
    default: "300000",
    doc: "How often ended jobs are moved.",
    ...portal,
  }),
  "tony.history.finished-dir-timezone": key({
    type: text,
    default: "UTC",
    doc: "Time zone of the folders by day.",
    ...portal,
  }),
  "tony.history.retention-sec": key({
    type: duration("s"),
    default: "2592000",
    doc: "How long history is kept.",
    ...portal,
  }),
  "tony.history.purger-interval-ms": key({
    type: duration("ms"),
    default: "21600000",
    doc: "How often old history is removed.",
    ...portal,
  }),
  "tony.portal.url": key({ type: text, default: "https://localhost:19886", doc: "The history server.", ...portal }),
  "tony.portal.cache.max-entries": key({ type: integer(), default: "10000", doc: "Size of its cache.", ...portal }),
  "tony.keytab.user": key({ type: text, default: "user1", doc: "Principal of the history server.", ...portal }),
  "tony.keytab.location": key({ type: path, doc: "Its keytab.", ...portal }),
  "tony.http.port": key({ type: text, default: "disabled", doc: "Its plain port.", ...portal }),
  "tony.https.port": key({ type: integer({ max: 65_535 }), default: "19886", doc: "Its TLS port.", ...portal }),
  "tony.https.keystore.path": key({ type: path, doc: "Java key store of the portal.", ...play }),
  "tony.https.keystore.type": key({ type: text, default: "JKS", doc: "Its type.", ...play }),
  "tony.https.keystore.password": key({ type: text, default: "password", doc: "Its password.", ...play }),
  "tony.https.keystore.algorithm": key({ type: text, default: "SunX509", doc: "Its algorithm.", ...play }),
  "tony.secret.key": key({ type: text, default: "changeme", doc: "Secret of the Play framework.", ...play }),
  "tony.docker.enabled": key({
    type: boolean,
    default: "false",
    doc: "Run the tasks in Docker containers; true is refused.",
    support: "not-yet",
    ...docker,
  }),
  "tony.docker.containers.image": key({ type: text, doc: "The image of all containers.", ...image }),
  "tony.docker.containers.mount": key({ type: text, doc: "Mounts of all containers.", ...image }),
  "tony.docker.{role}.image": key({ type: text, doc: "The image of one role, or of am.", ...image }),
  "tony.horovod.mode.test": key({
    type: boolean,
    default: "false",
    doc: "TonY's own tests of Horovod.",
    support: "not-yet",
  }),
  "tony.horovod.mode.test.fast.fail": key({
    type: boolean,
    default: "false",
    doc: "The same, failing.",
    support: "not-yet",
  }),
  "tony.horovod.driver.mode.debug": key({
    type: boolean,
    default: "false",
    doc: "Run the job's own Horovod driver (tony.driver.command).",
    support: "not-yet",
  }),
  "tony.version-info.{field}": key({
    type: text,
    doc: "Written into tony-final.xml by TonY's client.",
    support: "ignored-with-warning",
    note: "TonY writes it, nothing reads it",
  }),
} as const;
