import { readStopReason, type StopReason } from "../job/reasons/stops.ts";
import { toNumber, type tony } from "./wire.ts";

type Wire = tony.v1.StopReason.$Properties;

const codes = {
  unknown: 0,
  "generation-ended": 1,
  "job-ended": 2,
  hung: 3,
  "ran-too-long": 4,
  "container-terminated": 5,
  replaced: 6,
  refused: 7,
  orphaned: 8,
  "executor-failed": 9,
  "node-leaves": 10,
} as const satisfies Record<StopReason["code"], tony.v1.StopReason.Code>;

/** The facts have the same names on the wire. */
export function encodeStopReason(reason: StopReason): Wire {
  return { ...reason, code: codes[reason.code] };
}

/** A code that is not known, or none at all, is `unknown`: there was a reason to stop, whatever it was. */
export function decodeStopReason(wire: Wire | null | undefined): StopReason {
  const [code = "unknown"] = Object.entries(codes).find(([, number]) => number === wire?.code) ?? [];
  return readStopReason(
    {
      code,
      why: wire?.why ?? "",
      noProgressMs: toNumber(wire?.noProgressMs),
      step: toNumber(wire?.step),
      limitMs: toNumber(wire?.limitMs),
      silentMs: toNumber(wire?.silentMs),
      error: wire?.error ?? "",
    },
    "",
  );
}
