import { key } from "./key.ts";
import { boolean, optionalDuration, text, webAddress } from "./types.ts";

/** Which external systems are notified about the job. */
export const notifyKeys = {
  "tony.notify.url": key({
    type: webAddress,
    spec: ["am", "notifyUrl"],
    doc: "A webhook: the ApplicationMaster posts JSON there when programs start, at the first failure, at the end, and for the events of the keys `tony.notify.*`. The secret TONY_NOTIFY_KEY, set by --secret, signs what it posts.",
    support: "works",
    ours: true,
  }),
  "tony.notify.waiting-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyWaitingMs"],
    default: "10m",
    doc: "Post a notice when the job has waited for the same thing for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.gpu-idle-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyGpuIdleMs"],
    default: "10m",
    doc: "Post a notice of tasks whose GPUs have been used to less than 5 % for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.straggler-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyStragglerMs"],
    default: "5m",
    doc: "Post a notice of tasks that have reported fewer than 0.75 of the steps of their role's median for this long.",
    support: "works",
    ours: true,
  }),
  "tony.notify.no-checkpoint-after": key({
    type: optionalDuration("ms"),
    spec: ["am", "notifyNoCheckpointMs"],
    default: "0",
    doc: "Post a notice when running programs have reported no checkpoint for this long.",
    support: "works",
    ours: true,
  }),
  "tony.mlflow.url": key({
    type: webAddress,
    spec: ["am", "mlflowUrl"],
    doc: "An MLflow server: the job is a run there, with the metrics that its programs report, and each trial of a search a nested run. The secrets MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, set by --secret, log in.",
    support: "works",
    ours: true,
  }),
  "tony.mlflow.experiment": key({
    type: text,
    spec: ["am", "mlflowExperiment"],
    doc: "The experiment of these runs, which is created if it does not exist. Default: the job's name.",
    support: "works",
    ours: true,
  }),
  "tony.mlflow.share-run": key({
    type: boolean,
    spec: ["am", "mlflowShared"],
    doc: "Programs log to the job's run: MLflow's client finds it by MLFLOW_TRACKING_URI and MLFLOW_RUN_ID. The run is created before the tasks start; if MLflow does not answer within a second they start without it. Not in a search. true or false; false unless set.",
    support: "works",
    ours: true,
  }),
  "tony.otlp.url": key({
    type: webAddress,
    spec: ["am", "otlpUrl"],
    doc: "An OpenTelemetry collector (OTLP over HTTP, JSON), such as http://collector:4318: what the job's roles use and report is pushed there every 15 seconds. The secret OTEL_EXPORTER_OTLP_HEADERS, set by --secret, has headers (name=value,name=value).",
    support: "works",
    ours: true,
  }),
} as const;
