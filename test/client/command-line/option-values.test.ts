import { expect, test } from "@jest/globals";
import { parseMoment } from "../../../client/command-line/option-values.ts";

const nowMs = new Date(2026, 10, 22, 12).getTime();

test.each([
  ["10m", nowMs - 600_000],
  ["2d", nowMs - 172_800_000],
  ["2d ago", nowMs - 172_800_000],
  ["10m  ago", nowMs - 600_000],
  ["2026-11-22T11:00", nowMs - 3_600_000],
  ["2026-11-22", nowMs - 12 * 3_600_000],
  ["2026-11-22T11:00Z", Date.UTC(2026, 10, 22, 11)],
])("%s is a moment, in local time unless it has a zone", (text, expected) => {
  expect(parseMoment("--since", text, nowMs)).toBe(expected);
});

test.each(["yesterday", "ago", "2026-11-22 ago"])("%s is none and is refused, with what would be", (text) => {
  expect(() => parseMoment("--until", text, nowMs)).toThrow(
    `--until takes a duration such as 10m or a time such as 2026-11-22T14:00, not "${text}"`,
  );
});
