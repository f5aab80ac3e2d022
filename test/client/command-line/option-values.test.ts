import { expect, test } from "@jest/globals";
import { parseMoment, parsePort, trialCount } from "../../../client/command-line/option-values.ts";

const nowMs = new Date(2026, 10, 22, 12).getTime();

test.each([
  ["10m", nowMs - 600_000],
  ["2d", nowMs - 172_800_000],
  ["2d ago", nowMs - 172_800_000],
  ["600", nowMs - 600_000],
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

test.each([
  ["1", 1],
  ["65535", 65_535],
])("%s is a port", (text, port) => {
  expect(parsePort("--local-port", text)).toBe(port);
});

test.each(["0", "65536", "-1", "8080x", "", "1.5"])("%j is no port, and refused by the option's name", (text) => {
  expect(() => parsePort("--local-port", text)).toThrow(`--local-port is a number from 1 to 65535, not ${text}`);
});

test.each([
  ["1", 1],
  ["99999", 99_999],
])("%s is a number of trials", (text, count) => {
  expect(trialCount("top", text)).toBe(count);
});

test.each(["0", "100000", "all"])("%j is none, and refused by the option's name", (text) => {
  expect(() => trialCount("top", text)).toThrow(`--top takes a number of trials from 1 to 99999, not ${text}`);
});
