import type { GaugePoint, JobGauge, TaskGauges } from "../src/job/gauges.ts";
import { amount, arrayOf, object, recordOf, type Shape, ShapeError, string } from "../src/job/shape.ts";
import { parseTaskId } from "../src/job/task.ts";
import type { JobRow } from "../src/page/portal-answers.ts";
import { metric, type Sample } from "./metrics.ts";

/** What a running job's ApplicationMaster reports about it: a job can write anything there. */
export interface RunningMetrics {
  readonly gauges: readonly Pick<JobGauge, "name" | "points">[];
  /** Present where each task was requested. */
  readonly tasks?: readonly TaskGauges[];
}

interface Exposed {
  readonly name: string;
  readonly help: string;
  /** The factor to Prometheus' base units. */
  readonly scale?: number;
}

const MIB = 1024 ** 2;

/** The names of a job's gauges in Prometheus. */
const exposed: Readonly<Record<string, Exposed>> = {
  "tony.tasks": { name: "tony_tasks", help: "Tasks of a role in each state." },
  "tony.memory.usage": { name: "tony_role_memory_rss_bytes", help: "Memory that the tasks of a role use." },
  "tony.memory.usage.max": { name: "tony_role_memory_rss_max_bytes", help: "The most that one task of a role uses." },
  "tony.memory.limit": { name: "tony_role_memory_limit_bytes", help: "What a container of a role may use." },
  "tony.cpu.usage": { name: "tony_role_cpu_cores", help: "Processors that the tasks of a role keep busy." },
  "tony.gpu.utilization": { name: "tony_role_gpu_utilization_ratio", help: "How busy a role's GPUs are on average." },
  "tony.gpu.utilization.min": { name: "tony_role_gpu_utilization_min_ratio", help: "How busy its least busy GPU is." },
  "tony.gpu.memory": { name: "tony_role_gpu_memory_ratio", help: "How full a role's GPUs are on average." },
  "tony.disk.read": { name: "tony_role_disk_read_bytes_per_second", help: "What its tasks read from disks." },
  "tony.disk.written": { name: "tony_role_disk_written_bytes_per_second", help: "What its tasks write to disks." },
  "tony.step.min": { name: "tony_role_step_min", help: "The step of the task that is farthest behind." },
  "tony.step.max": { name: "tony_role_step_max", help: "The step of the task that is farthest ahead." },
  "tony.program.metric": { name: "tony_program_metric", help: "What the first task of a role reports." },
  "tony.generation": { name: "tony_job_generation", help: "How often the programs have been started together." },
  "tony.waits": { name: "tony_job_waits", help: "How many things the job waits for." },
  "tony.held.memory": {
    name: "tony_job_held_memory_byte_seconds",
    help: "Memory that the job has held so far.",
    scale: MIB,
  },
  "tony.held.vcores": { name: "tony_job_held_vcore_seconds", help: "Virtual cores that the job has held so far." },
};

const ofTask = [
  { name: "tony_task_memory_rss_bytes", help: "Memory that a task uses.", value: (it: TaskGauges) => it.memoryBytes },
  { name: "tony_task_cpu_cores", help: "Processors that a task keeps busy.", value: (it: TaskGauges) => it.cpuCores },
  {
    name: "tony_task_gpu_utilization_ratio",
    help: "How busy a task's GPUs are on average.",
    value: (it: TaskGauges) => it.gpu && it.gpu / 100,
  },
  { name: "tony_task_step", help: "The last step that a task has reported.", value: (it: TaskGauges) => it.step },
];

/**
 * The metrics of one running job for Prometheus.
 * @param said undefined: its ApplicationMaster has no page, or does not answer
 */
export function runningMetrics(
  { applicationId: app, name, user, queue }: JobRow,
  said: RunningMetrics | undefined,
): string {
  const alone = (value: number, labels: Sample["labels"] = {}): Sample[] => [{ labels: { app, ...labels }, value }];
  const gauges = (said?.gauges ?? []).flatMap((gauge) => {
    // An ApplicationMaster of another release may report other gauges.
    const { name: known, help, scale = 1 } = exposed[gauge.name] ?? {};
    if (known === undefined || help === undefined) return [];
    const samples = gauge.points.map(([labels, value]) => ({ labels: { app, ...labels }, value: value * scale }));
    return [metric(known, "gauge", help, samples)];
  });
  const { tasks } = said ?? {};
  const perTask =
    tasks === undefined
      ? []
      : ofTask.map(({ name: own, help, value }) => {
          const samples = tasks.flatMap((task): Sample[] => {
            const [known, { role = "", index = 0 } = {}] = [value(task), parseTaskId(task.task)];
            return known === undefined ? [] : [{ labels: { app, role, index: String(index) }, value: known }];
          });
          return metric(own, "gauge", help, samples);
        });
  return [
    metric("tony_job_info", "gauge", "A job that runs.", alone(1, { name, user, queue })),
    metric(
      "tony_job_up",
      "gauge",
      "Whether its ApplicationMaster answers: where it has a page.",
      alone(said === undefined ? 0 : 1),
    ),
    ...gauges,
    ...perTask,
  ].join("");
}

const readLabels = recordOf(string);
const readPoint: Shape<GaugePoint> = (value, where) => {
  if (!Array.isArray(value) || value.length !== 2) throw new ShapeError(`${where} must be labels and a number`);
  const labels = readLabels(value[0], where);
  const odd = Object.keys(labels).find((label) => !["role", "state", "metric"].includes(label));
  if (odd !== undefined) throw new ShapeError(`${where} has the label ${odd}`);
  return [labels, amount(value[1], where)];
};

/** @throws ShapeError */
export const readRunningMetrics: Shape<RunningMetrics> = object<RunningMetrics>({
  required: { gauges: arrayOf(object({ required: { name: string, points: arrayOf(readPoint) }, optional: {} })) },
  optional: {
    tasks: arrayOf(
      object<TaskGauges>({
        required: { task: string },
        optional: { memoryBytes: amount, cpuCores: amount, gpu: amount, step: amount },
      }),
    ),
  },
});
