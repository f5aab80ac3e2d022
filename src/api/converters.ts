import type { ChildReport } from "../job/execution.ts";
import { readStopReason, type StopReason } from "../job/reasons/stops.ts";
import type { ChildProgress } from "../job/status.ts";
import { convertedMessage, type Kind, type Message } from "./fields.ts";
import type { WireChild, WireChildProgress, WireSessionOutput, WireStopReason } from "./generated/types.ts";
import type { SessionOutput } from "./session-messages.ts";

/** Messages of proto/tony that programs know in another form. */

type Form<T> = Kind<T> & Message<T>;

const noFacts = { why: "", noProgressMs: 0, step: 0, limitMs: 0, silentMs: 0, error: "" };

/** The facts have the same names on the wire. A code that is not known is `unknown`: there was a reason to stop, whatever it was. */
export const stopReasonOf = (form: Form<WireStopReason>) =>
  convertedMessage<StopReason, WireStopReason>(form, {
    toWire: (reason) => reason,
    fromWire: (wire) => readStopReason({ ...noFacts, ...wire }, ""),
  });

export const childOf = (form: Form<WireChild>) =>
  convertedMessage<ChildReport, WireChild>(form, {
    toWire(child) {
      if (child.state === "none") return child;
      const { suspendedMs } = child;
      const suspended = suspendedMs === undefined ? {} : { suspendedMs };
      return child.state === "running"
        ? { state: "running", started: { pid: child.pid, atMs: child.startedAtMs }, ...suspended }
        : { state: "exited", exited: child.exit, ...suspended };
    },
    fromWire({ state, started, exited, suspendedMs = 0 }) {
      const suspended = suspendedMs > 0 ? { suspendedMs } : {};
      if (state === "running" && started) return { state, pid: started.pid, startedAtMs: started.atMs, ...suspended };
      return state === "exited" && exited ? { state, exit: exited, ...suspended } : { state: "none" };
    },
  });

export const childProgressOf = (form: Form<WireChildProgress>) =>
  convertedMessage<ChildProgress, WireChildProgress>(form, {
    toWire: ({ checkpoint, ...progress }) => ({
      ...progress,
      ...(checkpoint && {
        checkpoint: checkpoint.path,
        checkpointStep: checkpoint.step,
        checkpointAtMs: checkpoint.atMs,
      }),
    }),
    fromWire: ({ checkpoint: path = "", checkpointStep: step = 0, checkpointAtMs: atMs = 0, ...progress }) =>
      path === "" ? progress : { ...progress, checkpoint: { path, step, atMs } },
  });

export const sessionOutputOf = (form: Form<WireSessionOutput>) =>
  convertedMessage<SessionOutput, WireSessionOutput>(form, {
    toWire(output) {
      if (output.type === "data")
        return output.stream === "stdout"
          ? { type: "stdout", stdout: output.data }
          : { type: "stderr", stderr: output.data };
      if (output.type !== "failed") return output;
      return output.noSuchTask === true
        ? { type: "no-such-task", noSuchTask: output.reason }
        : { type: "failed", failed: output.reason };
    },
    fromWire(wire) {
      if (wire.type === "stdout") return { type: "data", stream: "stdout", data: wire.stdout };
      if (wire.type === "stderr") return { type: "data", stream: "stderr", data: wire.stderr };
      if (wire.type === "failed") return { type: "failed", reason: wire.failed };
      return wire.type === "no-such-task" ? { type: "failed", reason: wire.noSuchTask, noSuchTask: true } : wire;
    },
  });
