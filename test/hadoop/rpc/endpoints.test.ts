import { expect, test } from "@jest/globals";
import { EndpointList } from "../../../src/hadoop/rpc/endpoints.ts";

test("calls that fail together at one endpoint turn to the next, not beyond it", () => {
  const [first, second, third] = ["a", "b", "c"].map((host) => ({ host, port: 1 }));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three endpoints");
  const endpoints = new EndpointList([first, second, third]);
  endpoints.leave(first);
  endpoints.leave(first);
  expect(endpoints.current).toBe(second);
  endpoints.leave(second);
  endpoints.leave(third);
  expect(endpoints.current).toBe(first);
});
