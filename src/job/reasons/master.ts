import { type ReasonOf, reason } from "./reason.ts";

/** Why the AMs of an application failed, when YARN started no further one. */
export const masterReasons = {
  "am-silent": reason({ attempts: "number" }, ({ attempts }) => `the AM stopped responding${times(attempts)}`),
  "am-exceeded-memory": reason(
    { used: "text", limit: "text", virtual: "flag", attempts: "number" },
    ({ used, limit, virtual, attempts }) =>
      `the AM used ${used} of the ${limit} of ${virtual ? "virtual " : ""}memory that YARN allows${times(attempts)}`,
  ),
  "am-said": reason({ words: "text", attempts: "number" }, ({ words, attempts }) => `${words}${times(attempts)}`),
  "am-not-prepared": reason(
    { attempts: "number" },
    ({ attempts }) => `the AM's container could not be prepared${times(attempts)}`,
  ),
  "am-ended": reason({ attempts: "number" }, ({ attempts }) => `the AM's container ended${times(attempts)}`),
};

export type MasterReason = ReasonOf<typeof masterReasons>;

export function masterWords(master: MasterReason): string {
  return masterReasons[master.code].words(master);
}

function times(attempts: number): string {
  return attempts > 1 ? `, ${attempts} times` : "";
}
