import { type Settings, settingsOf } from "../../src/job/settings.ts";

/** Settings as a job's file would have them. */
export function settings(values: Readonly<Record<string, string>>): Settings {
  const properties = Object.entries(values).map(([name, value], index) => ({
    name,
    value,
    final: false,
    file: "job.xml",
    line: index + 1,
  }));
  const all = settingsOf(properties, "job").map((setting) => ({ ...setting, overrides: [] }));
  return new Map(all.map((setting) => [setting.key, setting]));
}
