import type { AvroSchema, AvroValue } from "../avro/schema.ts";
import { writeContainer } from "../avro/write.ts";
import type { TonyEvent } from "./events.ts";

const text = { type: "string", "avro.java.string": "String" } as const;
/** `doc` and `default` as TonY has them: a reader compares nothing of them, but its own schema then equals ours. */
const textOrNone = (doc: string) => ({ type: ["null", text], doc, default: null });
const field = (name: string, type: AvroSchema) => ({ name, type });
const record = <F>(name: string, fields: readonly F[]) => ({ type: "record", name, fields }) as const;
const containerId = { name: "containerID", ...textOrNone("Container  id") };
const task = [field("taskType", text), field("taskIndex", "int")];

/** In the order of the union's branches. */
const types = ["APPLICATION_INITED", "APPLICATION_FINISHED", "TASK_STARTED", "TASK_FINISHED"] as const;

/** `com.linkedin.tony.events.Event` of TonY 0.4.7, letter by letter. */
export const tonyEventSchema = {
  type: "record",
  name: "Event",
  namespace: "com.linkedin.tony.events",
  fields: [
    field("type", { type: "enum", name: "EventType", symbols: types }),
    field("event", [
      record("ApplicationInited", [
        field("applicationId", text),
        field("numTasks", "int"),
        field("host", text),
        containerId,
      ]),
      record("ApplicationFinished", [
        field("applicationId", text),
        field("finishedTasks", "int"),
        field("failedTasks", "int"),
        field("metrics", { type: "array", items: record("Metric", [field("name", text), field("value", "double")]) }),
      ]),
      record("TaskStarted", [...task, field("host", text), containerId]),
      record("TaskFinished", [
        ...task,
        field("status", text),
        field("metrics", { type: "array", items: "Metric" }),
        { name: "containerDiagnostic", ...textOrNone("Container error information") },
      ]),
    ]),
    field("timestamp", "long"),
  ],
} as const satisfies AvroSchema;

/**
 * A `.jhist` file.
 * @param sync as `writeContainer` takes it
 */
export function writeTonyEvents(events: readonly TonyEvent[], sync: Uint8Array): Buffer {
  return writeContainer(tonyEventSchema, events.map(avroEvent), sync);
}

/** The schema's fields alone are written of an event. */
function avroEvent(event: TonyEvent): AvroValue {
  const { type, timestamp } = event;
  const facts = {
    ...event,
    ...("containerID" in event && { containerID: optional(event.containerID) }),
    ...("containerDiagnostic" in event && { containerDiagnostic: optional(event.containerDiagnostic) }),
  };
  return { type, event: { branch: types.indexOf(type), of: facts }, timestamp };
}

function optional(value: string | null): AvroValue {
  return { branch: value === null ? 0 : 1, of: value };
}
