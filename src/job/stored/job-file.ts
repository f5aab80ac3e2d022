import type { ResourceType } from "../../hadoop/yarn/records.ts";
import type { Roundings } from "../amounts.ts";
import type { QueueShares } from "../cluster-nodes.ts";
import type { Listing } from "../feeds/listing.ts";
import type { JobSpec } from "../spec.ts";
import type { JobKeytab } from "./job-keytab.ts";

/** A file or archive to place in a container's working directory, as a scheduler is told of it. */
export interface ShippedFile {
  /** Its name in the working directory. */
  readonly link: string;
  /** `hdfs://…` on a cluster, `file:///…` with the local scheduler; written as Hadoop prints a Path, nothing escaped (see parseFileUrl). */
  readonly url: string;
  /** Size and time must equal the stored file's exactly, or the NodeManager refuses it. */
  readonly sizeBytes: number;
  readonly modificationTimeMs: number;
  readonly type: "FILE" | "ARCHIVE";
  readonly visibility: "PUBLIC" | "PRIVATE" | "APPLICATION";
  /** Of its bytes, hexadecimal: the launch command runs it only if it is this. Absent: it is run as it was fetched. */
  readonly sha256?: string;
}

/**
 * `job.json` in the staging folder: all that the ApplicationMaster needs to know, written once by the client and read by every attempt (see
 * stored-job.ts). It holds no secret: those travel in YARN's credentials (see src/api/identity.ts).
 */
export interface JobFile {
  readonly jobFileVersion: 1;
  /** Version and revision of the client that wrote it. */
  readonly build: string;
  readonly applicationId: string;
  readonly user: string;
  readonly spec: JobSpec;
  /** `hdfs://…/.tony-ts/<applicationId>`: the journal, the AM's address and whatever else lives as long as the application. */
  readonly stagingUrl: string;
  readonly files: {
    /** What the AM's own container was given: a later attempt needs it again. */
    readonly master: readonly ShippedFile[];
    /** For the container of every task: runtime, executor bundle, program, environment. */
    readonly all: readonly ShippedFile[];
    /** Beyond those, for one role's containers. */
    readonly byRole: Readonly<Record<string, readonly ShippedFile[]>>;
  };
  /** The link name of the Node runtime, or an absolute path where the nodes have their own; with MACHINE where it is another on some nodes. */
  readonly node: string;
  /** Every Hadoop property that the client's configuration set or the job overrode, `${…}` expanded. */
  readonly hadoop: Readonly<Record<string, string>>;
  /** HttpFS or Knox in front of the default file system (tony.hdfs.endpoint). */
  readonly hdfsEndpoint?: string;
  /** Node labels that are not exclusive: YARN gives what is free on their nodes also to asks that name no label. */
  readonly sharedLabels: readonly string[];
  /** How much of the nodes its queue may have at most; absent where nobody says, or it may have all. */
  readonly queueShares?: QueueShares;
  /** The cluster's, for an ApplicationMaster whose registration was not answered with them. */
  readonly resourceTypes: readonly ResourceType[];
  /** How the cluster's scheduler rounds, as its configuration says: for advice on the job's page; absent on this machine. */
  readonly roundings?: Roundings;
  /** The files of each feed, as they were at the submission; absent: the job has none. */
  readonly feeds?: Readonly<Record<string, Listing>>;
  /** Absent: the ApplicationMaster has the tokens that it is given, and no others. */
  readonly keytab?: JobKeytab;
}
