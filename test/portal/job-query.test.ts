import { describe, expect, test } from "@jest/globals";
import { askedFor, MOST_JOBS, parseJobQuery } from "../../portal/job-query.ts";
import type { JobRow } from "../../src/page/portal-answers.ts";

const usage = { memoryMiBSeconds: 0, vcoreSeconds: 0 };
const job = (number: number, changes: Partial<JobRow> = {}): JobRow => ({
  applicationId: `application_1_000${number}`,
  name: "bert",
  user: "ada",
  queue: "ml",
  state: "succeeded",
  startedAtMs: 100,
  endedAtMs: 200,
  tasks: 1,
  writtenBy: "tony-ts",
  usage,
  ...changes,
});
const { endedAtMs: _ended, ...running } = job(3, { state: "running", startedAtMs: 150 });
const rows = [
  job(1, { tags: ["Team:nlp", "nightly"] }),
  job(2, { name: "ResNet", user: "Bob", queue: "root.prod", state: "failed", cause: "worker:1 ran Out of memory" }),
  running,
  job(4, { user: "adam", queue: "ml2", state: "waiting", startedAtMs: 1_000, endedAtMs: 1_000 }),
];

const parse = (query: string) => parseJobQuery(new URLSearchParams(query));
function found(query: string) {
  const parsed = parse(query);
  return typeof parsed === "string"
    ? parsed
    : askedFor(rows, parsed).rows.map(({ applicationId }) => applicationId.at(-1));
}

describe("the list of jobs", () => {
  test.each([
    ["", ["1", "2", "3", "4"]],
    ["name=NET", ["2"]],
    ["name=_0003", ["3"]],
    ["user=ada", ["1", "3"]],
    ["user=ada*", ["1", "3", "4"]],
    ["user=bob", []],
    ["user=*o*", ["2"]],
    ["user=a.a", []],
    ["user=a*da", ["1", "3"]],
    ["user=ad*da", []],
    ["user=ada*a", []],
    ["user=*", ["1", "2", "3", "4"]],
    ["user=*d**", ["1", "3", "4"]],
    ["user=*d*d*", []],
    ["queue=ml", ["1", "3"]],
    ["queue=root.ml", ["1", "3"]],
    ["queue=prod", ["2"]],
    ["queue=root.prod", ["2"]],
    ["queue=root.old.prod", []],
    ["queue=ml*", ["1", "3", "4"]],
    ["tag=Team:NLP", ["1"]],
    ["tag=team:*", ["1"]],
    ["tag=team", []],
    ["cause=out of", ["2"]],
    ["name=%20%20", ["1", "2", "3", "4"]],
    ["state=%20&user=%20&since=%20&until=&count=", ["1", "2", "3", "4"]],
    ["state=running", ["3"]],
    ["state=waiting", ["4"]],
    ["user=ada&state=succeeded", ["1"]],
    ["name=resnet&user=ada", []],
    ["since=200", ["1", "2", "3", "4"]],
    ["since=201", ["3", "4"]],
    ["since=1970-01-01T00:00:00.201Z", ["3", "4"]],
    ["since=1970-01-01", ["1", "2", "3", "4"]],
    ["since=1970-01-02", ["3"]],
    ["until=1970-01-01", ["1", "2", "3", "4"]],
    ["until=1969-12-31", []],
    ["until=150", ["1", "2", "3"]],
    ["until=149", ["1", "2"]],
    ["until=99", []],
    ["until=1970-01-01T00:00:00.149Z", ["1", "2"]],
    ["from=1&count=1", ["2"]],
    ["from=4", []],
  ])("is asked for by %s", (query, expected) => {
    expect(found(query)).toEqual(expected);
  });

  test("says how many there are, of all and of those that match, whatever is shown of them", () => {
    const query = parse("user=ada&from=1&count=1");
    expect(typeof query === "string" ? query : askedFor(rows, query)).toMatchObject({ total: 4, matching: 2, from: 1 });
  });

  test("goes on to the end of a day that is named, and no further", () => {
    expect(parse("until=1970-01-01")).toMatchObject({ untilMs: 86_399_999 });
  });

  test("shows so many at most, and fifty where nobody says how many", () => {
    expect(parse("count=100000")).toMatchObject({ count: MOST_JOBS });
    expect(parse("")).toMatchObject({ from: 0, count: 50 });
  });

  test.each([
    ["colour=red&size=1", /^colour is not one of user, queue, tag, name, cause, state, since, until, from, count$/],
    ["state=odd", /^state is one of waiting, running, succeeded, failed, killed, unknown$/],
    ["since=x", /^since and until are/],
    ["since=2026-13-01", /^since and until are/],
    ["until=-1", /^since and until are/],
    ["from=1.5", /^from and count are/],
    ["count=1e3", /^from and count are/],
  ])("says what is wrong with %s", (query, why) => {
    expect(parse(query)).toMatch(why);
  });
});

test("a name with many stars costs no more than its length", () => {
  const [row] = rows;
  const parsed = parseJobQuery(new URLSearchParams({ user: `${"a*".repeat(30)}b` }));
  if (row === undefined || typeof parsed === "string") throw new Error("a query");
  expect(askedFor([{ ...row, user: "a".repeat(100) }], parsed).rows).toEqual([]);
});
