import { describe, expect, test } from "@jest/globals";
import { parseLiveRequest } from "../../src/page/live-request.ts";

const parsed = (query: string) => parseLiveRequest(new URLSearchParams(query));

describe("what a page asks for", () => {
  test("is the first tasks of the job where it says nothing", () => {
    const first = { since: 0, from: 0, count: 50, sort: "task", descending: false, filter: "", task: "" };
    expect(parsed("")).toEqual(first);
    expect(parsed("since=7&from=50&count=1000&sort=cpu&order=down&filter=gpu-1&task=worker:0")).toEqual({
      since: 7,
      from: 50,
      count: 100,
      sort: "cpu",
      descending: true,
      filter: "gpu-1",
      task: "worker:0",
    });
  });

  test.each(["since=-1", "since=1e9", "from=x", "count=", "sort=name", "filter=%3Cb%3E", "task=a%0Ab", "a%20b=1"])(
    "is nothing that a page of ours would ask: %s",
    (query) => {
      expect(parsed(query)).toBeUndefined();
    },
  );
});
