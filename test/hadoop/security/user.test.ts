import { expect, test } from "@jest/globals";
import { currentUser } from "../../../src/hadoop/security/user.ts";

const login = () => "login";

test("HADOOP_USER_NAME goes before the login name, and HADOOP_PROXY_USER is acted for", () => {
  expect(currentUser({}, login)).toEqual({ name: "login" });
  expect(currentUser({ HADOOP_USER_NAME: "alice" }, login)).toEqual({ name: "alice" });
  expect(currentUser({ HADOOP_USER_NAME: "" }, login)).toEqual({ name: "login" });
  expect(currentUser({ HADOOP_USER_NAME: "alice", HADOOP_PROXY_USER: "bob" }, login)).toEqual({
    name: "bob",
    realName: "alice",
  });
});

test("a process whose number has no name is told to set HADOOP_USER_NAME", () => {
  const nameless = () => undefined;
  expect(() => currentUser({}, nameless)).toThrow(
    /^This process runs as user \d+, who has no name.*\n {2}Set HADOOP_USER_NAME/,
  );
  expect(currentUser({ HADOOP_USER_NAME: "alice" }, nameless)).toEqual({ name: "alice" });
});
