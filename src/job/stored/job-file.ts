import type { ResourceType } from "../../hadoop/yarn/records.ts";
import type { Roundings } from "../amounts.ts";
import type { QueueShares } from "../cluster-nodes.ts";
import type { Listing } from "../feeds/listing.ts";
import type { JobSpec } from "../spec.ts";
import type { JobKeytab } from "./job-keytab.ts";

/** A file or archive for a container's working directory, as passed to a scheduler. */
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
  /** The hash of its bytes, hexadecimal: the launch command runs the file only if the hash matches. Absent: it is run unchecked. */
  readonly sha256?: string;
}

/**
 * `job.json` in the staging folder: everything that the ApplicationMaster needs to know, written once by the client and read by every
 * attempt (see stored-job.ts). It contains no secret: those are in YARN's credentials (see src/api/identity.ts).
 */
export interface JobFile {
  readonly jobFileVersion: 1;
  /** Version and revision of the client that wrote it. */
  readonly build: string;
  readonly applicationId: string;
  readonly user: string;
  readonly spec: JobSpec;
  /** `hdfs://…/.tony-ts/<applicationId>`: contains the journal, the AM's address and everything else that lives as long as the application. */
  readonly stagingUrl: string;
  readonly files: {
    /** The files of the AM's own container: a later attempt needs them again. */
    readonly master: readonly ShippedFile[];
    /** For the container of every task: runtime, executor bundle, program, environment. */
    readonly all: readonly ShippedFile[];
    /** Further files, for one role's containers. */
    readonly byRole: Readonly<Record<string, readonly ShippedFile[]>>;
  };
  /** The link name of the Node runtime, or an absolute path where the nodes have their own; contains MACHINE where it differs between nodes. */
  readonly node: string;
  /** Every Hadoop property that the client's configuration or the job sets, with `${…}` expanded. */
  readonly hadoop: Readonly<Record<string, string>>;
  /** HttpFS or Knox, where one serves the default file system (tony.hdfs.endpoint). */
  readonly hdfsEndpoint?: string;
  /** Node labels that are not exclusive: YARN also gives free resources of their nodes to requests without a label. */
  readonly sharedLabels: readonly string[];
  /** The largest share of the nodes that its queue may use; absent where it is unknown, or not limited. */
  readonly queueShares?: QueueShares;
  /** The cluster's resource types, for an ApplicationMaster that did not get them in the answer to its registration. */
  readonly resourceTypes: readonly ResourceType[];
  /** How the cluster's scheduler rounds, by its configuration: for advice on the job's page; absent on this machine. */
  readonly roundings?: Roundings;
  /** The files of each feed at the submission; absent: the job has none. */
  readonly feeds?: Readonly<Record<string, Listing>>;
  /** Absent: the ApplicationMaster has only the tokens that it is given. */
  readonly keytab?: JobKeytab;
}
