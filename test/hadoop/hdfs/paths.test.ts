import { describe, expect, test } from "@jest/globals";
import { checkPath, octal, operationUrl } from "../../../src/hadoop/hdfs/paths.ts";

describe("a path", () => {
  test.each(["/", "/a", "/a/b", "/.hidden", "/a..b/...", "/a/.b"])("%s is plain", (path) => {
    expect(checkPath(path)).toBe(path);
  });

  test.each(["", "a", "a/b", "/a//b", "//", "/./a", "/a/.", "/../a", "/a/.."])('"%s" is refused', (path) => {
    expect(() => checkPath(path)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST", path }));
  });
});

describe("the address of an operation", () => {
  test.each(["http://nn:9870", "http://nn:9870/", "http://nn:9870/webhdfs/v1", "http://nn:9870/webhdfs/v1//"])(
    "below %s is that of WebHDFS",
    (base) => {
      expect(operationUrl(base, "/a", { op: "OPEN", offset: "5" }).href).toBe(
        "http://nn:9870/webhdfs/v1/a?op=OPEN&offset=5",
      );
    },
  );

  test("below a gateway's own path keeps that", () => {
    expect(operationUrl("https://gate/gateway/default", "/", { op: "LISTSTATUS" }).href).toBe(
      "https://gate/gateway/default/webhdfs/v1/?op=LISTSTATUS",
    );
  });
});

test("permissions are written in octal digits", () => {
  expect([octal(0o755), octal(0o1777), octal(0)]).toEqual(["755", "1777", "0"]);
});
