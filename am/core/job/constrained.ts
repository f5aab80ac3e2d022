import { endedBecause } from "../../../src/job/outcome.ts";
import { countWords, settingOf } from "../../../src/job/reasons/words.ts";
import { noteRefusal } from "../containers/refusals.ts";
import type { Event } from "../state/events.ts";
import { log, type Step } from "../state/step.ts";
import { finish } from "./finish.ts";

/** The keys that constrain placement. */
const KEY = /^tony\.(?:.*\.)?(?:placement-spec|allocation-tags)$/;

/** The ResourceManager does not accept constraints: its configuration would have to change. */
export function constraintsRefused(step: Step, message: string): void {
  const keys = Object.keys(step.spec.sources).filter((key) => KEY.test(key));
  const settings = keys.map((key) => settingOf(step.spec, key));
  finish(step, endedBecause("failed", { code: "constraints-refused", settings, message }));
}

/** YARN has given up looking for places: they are asked for again after a while. */
export function askUnplaced(step: Step, { role, count }: Extract<Event, { type: "ask-unplaced" }>): void {
  const said = step.state.asks[step.spec.roles.findIndex(({ name }) => name === role)];
  if (said === undefined || !noteRefusal(step, said, { unplaced: true })) {
    return;
  }
  const words = `YARN finds no place for ${countWords(count, "container")} of ${role} that the job's placement constraints allow; it is asked again.`;
  log(step, "warn", "ask-unplaced", words);
}
