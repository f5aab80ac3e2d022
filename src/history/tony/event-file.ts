import type { AvroSchema, AvroValue } from "../avro/schema.ts";
import { writeContainer } from "../avro/write.ts";
import type { TonyEvent } from "./events.ts";

const text = { type: "string", "avro.java.string": "String" } as const;
/** `doc` and `default` as in TonY: readers ignore them, but so their schema equals ours. */
const textOrNone = (doc: string) => ({ type: ["null", text], doc, default: null });
const field = (name: string, type: AvroSchema) => ({ name, type });
const record = <F>(name: string, fields: readonly F[]) => ({ type: "record", name, fields }) as const;
const containerId = { name: "containerID", ...textOrNone("Container  id") };
const task = [field("taskType", text), field("taskIndex", "int")];

/** In the order of the union's branches. */
const types = ["APPLICATION_INITED", "APPLICATION_FINISHED", "TASK_STARTED", "TASK_FINISHED"] as const;

/** `com.linkedin.tony.events.Event` of TonY 0.4.7, character for character. */
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
 * @param sync as for `writeContainer`
 */
export function writeTonyEvents(events: readonly TonyEvent[], sync: Uint8Array): Buffer {
  return writeContainer(tonyEventSchema, events.map(avroEvent), sync);
}

/** Only the schema's fields of an event are written. */
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
