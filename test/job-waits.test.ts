import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

/** Shorter pieces of a phrase say nothing of where it comes from. */
const shortest = 5;

test("docs/guide/job-waits.md quotes reasons as status and submit say them", () => {
  const page = readFileSync("docs/guide/job-waits.md", "utf8");
  const reasons = plain(readFileSync("docs/reference/reasons.md", "utf8"));
  const quoted = Array.from(page.matchAll(/^\| `([^`]+)`/gm), ([, phrase = ""]) => phrase);
  expect(quoted.length).toBeGreaterThan(15);
  const unknown = quoted.filter((phrase) =>
    plain(phrase)
      .split("…")
      .map((piece) => piece.trim())
      .some((piece) => piece.length >= shortest && !reasons.includes(piece)),
  );
  expect(unknown).toEqual([]);
});

/** Names, numbers and placeholders are one to both: the reasons' page has examples. */
function plain(text: string): string {
  return text
    .replaceAll(/‹[^›]*›/g, "…")
    .replaceAll(/\b(ml|gpu|worker:\d)\b/g, "…")
    .replaceAll(/too few … for more than \d/g, "too …")
    .replaceAll(/\b\d+\b/g, "…");
}
