import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import { type hadoop, yarn } from "../../src/hadoop/wire/yarn.ts";
import { applicationStates, finalStatuses, nodeStates, queueStates } from "../../src/hadoop/yarn/convert-enums.ts";
import { applicationIdFromWire, applicationIdToWire, attemptIdToWire } from "../../src/hadoop/yarn/convert-ids.ts";
import { resourceToWire } from "../../src/hadoop/yarn/convert-resources.ts";
import type { ApplicationReport, NodeLabel, NodeReport, NodeState } from "../../src/hadoop/yarn/records.ts";
import { ResourceTypes } from "../../src/hadoop/yarn/resource-types.ts";
import { failureFrame, type ReceivedCall, RpcTestServer } from "../support/rpc-server.ts";
import { aReport } from "./application-report.ts";

type ReportOnWire = hadoop.yarn.ApplicationReportProto.$Properties;
export type SubmittedOnWire = hadoop.yarn.ApplicationSubmissionContextProto.$Properties;

const notThere = "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException";
const notAllowed = "org.apache.hadoop.security.AccessControlException";

/** A ResourceManager of a cluster whose HDFS nobody needs: it has the applications and nodes that a test gives it, and takes others. */
export class StandInManager {
  readonly killed: { readonly id: string; readonly reason: string }[] = [];
  applications: ApplicationReport[] = [];
  nodes: NodeReport[] = [];
  /** By their paths below root; of a path each word is a queue. */
  queues: readonly string[] = ["default", "ml"];
  /** Of these, those that take no applications. */
  stopped: readonly string[] = [];
  /** Where it is FairScheduler, which names queues by their whole paths: what they may have at most. */
  fair: Readonly<Record<string, { readonly memoryMiB: number; readonly vcores: number }>> | undefined;
  /** Of nodes; undefined: it is older than they are. */
  attributes: readonly string[] | undefined;
  labels: readonly NodeLabel[] = [];
  resourceTypes: readonly string[] = ["memory-mb", "vcores"];
  /** Of all queues: what who names none asks for, and may ask for. */
  defaultLabel = "";
  /** The largest container. */
  maximum = { memoryMiB: 8_192, vcores: 4 };
  refusesKill = false;
  /** Nor may the caller know which applications there are. */
  refusesLists = false;
  /** What was submitted, and how the last of it is from then on. */
  readonly submitted: SubmittedOnWire[] = [];
  taken: Partial<ApplicationReport> = {};
  /** So many of the next submissions it takes and then knows nothing of, as one that fails over. */
  forgets = 0;
  /** Is told of a submission before it is taken. */
  onSubmit: () => void = () => undefined;
  readonly #offered: string[] = [];
  readonly #server: RpcTestServer;

  /** The folder of its cluster's configuration. */
  readonly configuration: string;

  private constructor(server: RpcTestServer, configuration: string) {
    this.#server = server;
    this.configuration = configuration;
  }

  static async start(folder: string): Promise<StandInManager> {
    const server: RpcTestServer = await RpcTestServer.start({
      onCall: (connection, call) => {
        const { refusesKill, refusesLists } = manager;
        const refused = { forceKillApplication: refusesKill, getApplications: refusesLists };
        const isRefused = Object.entries(refused).some(([method, isSo]) => isSo && method === call.method);
        const answer = isRefused ? undefined : manager.#answer(call);
        if (answer !== undefined) connection.reply(call.callId, answer);
        else if (isRefused) connection.socket.write(failureFrame(call.callId, "ERROR", notAllowed, "it is not yours"));
        else connection.socket.write(failureFrame(call.callId, "ERROR", notThere, "there is no such application"));
      },
    });
    const configuration = path.join(folder, "conf");
    const manager: StandInManager = new StandInManager(server, configuration);
    mkdirSync(configuration);
    const property = ([name, value]: readonly [string, string]) =>
      `<property><name>${name}</name><value>${value}</value></property>`;
    const { host, port } = server.endpoint;
    const files = {
      "core-site.xml": [["fs.defaultFS", "hdfs://nowhere:8020"]],
      "yarn-site.xml": [
        ["yarn.resourcemanager.address", `${host}:${port}`],
        ["yarn.resourcemanager.scheduler.address", `${host}:${port}`],
      ],
    } as const;
    for (const [name, properties] of Object.entries(files))
      writeFileSync(
        path.join(configuration, name),
        `<configuration>${properties.map(property).join("")}</configuration>`,
      );
    return manager;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Who is connected with it. */
  get callers(): number {
    return this.#server.connections.filter(({ socket }) => !socket.destroyed).length;
  }

  has(...applications: readonly (Partial<ApplicationReport> & Pick<ApplicationReport, "id">)[]): void {
    this.applications = applications.map((changes) => aReport({ user: "ada", ...changes }));
  }

  #answer({ method, request }: ReceivedCall): Uint8Array | undefined {
    switch (method) {
      case "getApplications": {
        const filter = yarn.GetApplicationsRequestProto.decode(request);
        const states = filter.application_states.map((state) => applicationStates.fromWire(state));
        const chosen = this.applications
          .filter(({ state }) => states.length === 0 || states.includes(state))
          .filter(({ type }) => filter.application_types.length === 0 || filter.application_types.includes(type))
          .filter(({ user }) => filter.users.length === 0 || filter.users.includes(user))
          .filter(
            ({ tags }) =>
              filter.applicationTags.length === 0 || tags.some((tag) => filter.applicationTags.includes(tag)),
          );
        return yarn.GetApplicationsResponseProto.encode({ applications: chosen.map(onWire) }).finish();
      }
      case "getApplicationReport": {
        const { application_id: id } = yarn.GetApplicationReportRequestProto.decode(request);
        const found = this.#found(id);
        return found && yarn.GetApplicationReportResponseProto.encode({ application_report: onWire(found) }).finish();
      }
      case "forceKillApplication": {
        const { application_id: id, diagnostics: reason } = yarn.KillApplicationRequestProto.decode(request);
        const found = this.#found(id);
        if (found === undefined) return undefined;
        this.killed.push({ id: found.id, reason });
        this.applications = this.applications.map((one) =>
          one === found ? { ...one, state: "KILLED", finalStatus: "KILLED", diagnostics: reason } : one,
        );
        return yarn.KillApplicationResponseProto.encode({ is_kill_completed: true }).finish();
      }
      case "getClusterNodes": {
        const states = yarn.GetClusterNodesRequestProto.decode(request).nodeStates.map((state) =>
          nodeStates.fromWire(state),
        );
        const nodeReports = this.nodes.filter(({ state }) => states.includes(state)).map(nodeOnWire);
        return yarn.GetClusterNodesResponseProto.encode({ nodeReports }).finish();
      }
      case "getContainers":
        return yarn.GetContainersResponseProto.encode({ containers: [] }).finish();
      case "getNewApplication": {
        const id = `application_1795305600000_${String(this.#offered.length + 1).padStart(4, "0")}`;
        this.#offered.push(id);
        const maximumCapability = { memory: this.maximum.memoryMiB, virtual_cores: this.maximum.vcores };
        const offered = { application_id: applicationIdToWire(id), maximumCapability };
        return yarn.GetNewApplicationResponseProto.encode(offered).finish();
      }
      case "submitApplication": {
        const { application_submission_context: submitted } = yarn.SubmitApplicationRequestProto.decode(request);
        if (submitted === null || submitted === undefined) return undefined;
        this.onSubmit();
        this.submitted.push(submitted);
        const { application_id, application_name: name, queue, applicationTags } = submitted;
        const [id, tags] = [applicationIdFromWire(application_id), applicationTags ?? []];
        const report = { id, user: ownerName(), name: name ?? "", queue: queue ?? "", tags, ...this.taken };
        if (this.forgets > 0) this.forgets -= 1;
        else this.applications = [...this.applications, aReport(report)];
        return yarn.SubmitApplicationResponseProto.encode({}).finish();
      }
      case "getResourceTypeInfo": {
        const resource_type_info = this.resourceTypes.map((name) => ({ name }));
        return yarn.GetAllResourceTypeInfoResponseProto.encode({ resource_type_info }).finish();
      }
      case "getQueueInfo": {
        const { queueName, includeChildQueues, recursive } = yarn.GetQueueInfoRequestProto.decode(request);
        const known = ["root", ...this.queues.flatMap((below) => pathsOf(`root.${below}`))];
        const path = known.find((one) => one === queueName || lastWord(one) === queueName);
        const depth = includeChildQueues ? (recursive ? Number.POSITIVE_INFINITY : 1) : 0;
        const queueInfo = path === undefined ? undefined : this.#queue(path, [...new Set(known)], depth);
        return yarn.GetQueueInfoResponseProto.encode({ ...(queueInfo && { queueInfo }) }).finish();
      }
      case "getClusterNodeAttributes": {
        if (this.attributes === undefined) return undefined;
        const attributeType = yarn.NodeAttributeTypeProto.STRING;
        const nodeAttributes = this.attributes.map((name) => ({
          attributeKey: { attributeName: name },
          attributeType,
        }));
        return yarn.GetClusterNodeAttributesResponseProto.encode({ nodeAttributes }).finish();
      }
      case "getQueueUserAcls":
        return yarn.GetQueueUserAclsInfoResponseProto.encode({}).finish();
      case "getClusterMetrics": {
        const among = (state: NodeState) => this.nodes.filter((node) => node.state === state).length;
        const cluster_metrics = {
          num_node_managers: this.nodes.length,
          num_active_nms: among("RUNNING"),
          num_lost_nms: among("LOST"),
          num_unhealthy_nms: among("UNHEALTHY"),
        };
        return yarn.GetClusterMetricsResponseProto.encode({ cluster_metrics }).finish();
      }
      case "getClusterNodeLabels": {
        const nodeLabels = this.labels.map(({ name, exclusive }) => ({ name, isExclusive: exclusive }));
        return yarn.GetClusterNodeLabelsResponseProto.encode({ nodeLabels }).finish();
      }
      default:
        return undefined;
    }
  }

  #queue(path: string, all: readonly string[], depth: number): hadoop.yarn.QueueInfoProto.$Properties {
    const name = lastWord(path);
    const most = this.fair?.[path];
    const below = depth === 0 ? [] : all.filter((one) => one === `${path}.${lastWord(one)}`);
    return {
      queueName: this.fair === undefined ? name : path,
      queuePath: path,
      state: queueStates.toWire(this.stopped.includes(name) ? "STOPPED" : "RUNNING"),
      ...{ defaultNodeLabelExpression: this.defaultLabel, accessibleNodeLabels: [this.defaultLabel] },
      childQueues: below.map((one) => this.#queue(one, all, depth - 1)),
      ...(most && { schedulerType: "FairScheduler", maxResourceMemory: most.memoryMiB, maxResourceVCore: most.vcores }),
    };
  }

  #found(id: hadoop.yarn.ApplicationIdProto.$Properties | null | undefined): ApplicationReport | undefined {
    const text = applicationIdFromWire(id);
    return this.applications.find((one) => one.id === text);
  }
}

/** `root.a`, `root.a.b` */
function pathsOf(path: string): string[] {
  const words = path.split(".");
  return words.slice(1).map((_, index) => words.slice(0, index + 2).join("."));
}

function lastWord(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

function onWire(report: ApplicationReport): ReportOnWire {
  const { currentAttemptId: attempt, usage } = report;
  return {
    applicationId: applicationIdToWire(report.id),
    user: report.user,
    name: report.name,
    queue: report.queue,
    applicationType: report.type,
    applicationTags: [...report.tags],
    yarn_application_state: applicationStates.toWire(report.state),
    final_application_status: finalStatuses.toWire(report.finalStatus),
    ...(attempt !== undefined && { currentApplicationAttemptId: attemptIdToWire(attempt) }),
    ...(report.amHost !== undefined && { host: report.amHost }),
    ...(report.amRpcPort !== undefined && { rpc_port: report.amRpcPort }),
    trackingUrl: report.trackingUrl,
    diagnostics: report.diagnostics,
    startTime: report.startTimeMs,
    finishTime: report.finishTimeMs,
    ...(usage !== undefined && {
      app_resource_Usage: {
        num_used_containers: usage.usedContainers,
        used_resources: resourceToWire(
          usage.used,
          new ResourceTypes(Object.keys(usage.used.others).map((name) => ({ name, units: "" }))),
        ),
      },
    }),
  };
}

function nodeOnWire(node: NodeReport): hadoop.yarn.NodeReportProto.$Properties {
  const { used, capability } = node;
  return {
    nodeId: { host: node.host, port: 45_454 },
    node_state: nodeStates.toWire(node.state),
    used: { memory: used.memoryMiB, virtual_cores: used.vcores },
    capability: { memory: capability.memoryMiB, virtual_cores: capability.vcores },
    numContainers: node.containerCount,
    node_labels: [...node.labels],
  };
}
