import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  accessControlList,
  boolean,
  clusterFolder,
  duration,
  environment,
  escapeListItem,
  integer,
  joinLists,
  label,
  limit,
  list,
  memory,
  oneOf,
  optionalDuration,
  portNames,
  portRange,
  splitList,
  webAddress,
  webPlace,
} from "../../../src/job/keys/types.ts";

describe("memory", () => {
  test.each([
    ["2g", 2048],
    ["2G", 2048],
    ["512m", 512],
    ["512", 512],
    [" 3 GiB ", 3072],
    ["1t", 1_048_576],
    ["1536MB", 1536],
  ])("%s is %d MiB", (text, mebibytes) => {
    expect(memory.parse(text)).toBe(mebibytes);
  });

  test.each(["", "0", "-1", "1.5g", "2gg", "g", "two", "2k"])('"%s" is refused with an example', (text) => {
    expect(() => memory.parse(text)).toThrow(/such as 2g or 512m/);
  });
});

describe("access control lists", () => {
  test.each(["*", "ada", "ada,bob", "ada,bob ml,ops", " ml", ""])('"%s" stays as YARN reads it', (text) => {
    expect(accessControlList.parse(text)).toBe(text);
  });

  test("have no third part", () => {
    expect(() => accessControlList.parse("ada, bob ml")).toThrow(/users, a space and groups/);
  });
});

describe("durations", () => {
  test("a bare number counts what TonY takes it for, a unit always wins", () => {
    expect(duration("ms").parse("1500")).toBe(1500);
    expect(duration("s").parse("15")).toBe(15_000);
    expect(duration("s").parse("250ms")).toBe(250);
    expect(duration("ms").parse("2h")).toBe(7_200_000);
  });

  test("0 and -1 turn a wait off where that is allowed", () => {
    expect(optionalDuration().parse("0")).toBeUndefined();
    expect(optionalDuration().parse("-1")).toBeUndefined();
    expect(optionalDuration("s").parse("5m")).toBe(300_000);
    expect(() => duration().parse("-1")).toThrow(/a duration such as/);
  });

  test.each(["soon", "5 weeks", "1.5h", ""])('"%s" is refused', (text) => {
    expect(() => optionalDuration().parse(text)).toThrow(/not "/);
  });
});

describe("folders of the cluster", () => {
  test.each(["/shared", "/shared/", "/a/.b/c..d", "hdfs://nn:8020/a", "viewfs:///a/b", "s3a://bucket/a"])(
    "%s",
    (folder) => {
      expect(clusterFolder.parse(folder)).toBe(folder);
    },
  );

  test.each(["shared/a", "~/a", "./a", "/a/../b", "/a//b", "/./a", "/a/..", "hdfs://nn:8020", "hdfs://nn/a//b"])(
    "%s is refused with an example",
    (folder) => {
      expect(() => clusterFolder.parse(folder)).toThrow(/an absolute path such as \/shared\/folder, or a URL/);
    },
  );
});

describe("numbers, words and labels", () => {
  test("a number keeps to its bounds and says them", () => {
    expect(integer({ min: 1 }).parse("12")).toBe(12);
    expect(() => integer({ min: 1 }).parse("0")).toThrow("a whole number of at least 1");
    expect(() => integer({ max: 5 }).parse("6")).toThrow("between 0 and 5");
    expect(() => integer().parse("1e3")).toThrow();
  });

  test("a negative limit is none", () => {
    expect(limit.parse("-1")).toBeUndefined();
    expect(limit.parse("0")).toBe(0);
  });

  test("words and booleans are read in any case, as TonY does", () => {
    expect(oneOf("gang", "fcfs").parse("GANG")).toBe("gang");
    expect(() => oneOf("gang", "fcfs").parse("gnag")).toThrow('one of gang, fcfs, not "gnag"');
    expect(boolean.parse("True")).toBe(true);
    expect(() => boolean.parse("yes")).toThrow("true or false");
  });

  test("a label is one word", () => {
    expect(label.parse("gpu-a100")).toBe("gpu-a100");
    expect(() => label.parse("gpu && big")).toThrow(/a node label/);
  });
});

describe("lists", () => {
  test("are split at commas, trimmed, without empty items", () => {
    expect(list.parse(" a, b,,c ")).toEqual(["a", "b", "c"]);
    expect(list.parse("")).toEqual([]);
  });

  test("an escaped item comes back whole: with its commas, backslashes and blanks at its end", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z,\\][a-z,\\ \n]*$/)), (items) => {
        expect(list.parse(items.map(escapeListItem).join(","))).toEqual(items);
      }),
    );
  });

  test("a list that ends in a backslash takes nothing of the next one", () => {
    expect(splitList(joinLists("A=1,B=\\", "C=2"))).toEqual(["A=1", "B=\\", "C=2"]);
    expect(splitList(joinLists("A=a\\,b", "C=2"))).toEqual(["A=a,b", "C=2"]);
  });

  test("an environment keeps everything after the first equals sign", () => {
    expect(environment.parse("A=1,OPTS=-Dx=y -Dz,EMPTY,LIST=a\\,b")).toEqual({
      A: "1",
      OPTS: "-Dx=y -Dz",
      EMPTY: "",
      LIST: "a,b",
    });
    expect(() => environment.parse("a b=1")).toThrow(/NAME=value/);
  });
});

describe("names of ports", () => {
  test("are a list", () => {
    expect(portNames.parse("rpc, web-ui,m2")).toEqual(["rpc", "web-ui", "m2"]);
  });

  test.each(["rpc,rpc", "Rpc", "a_b", "2nd", "rpc:5000"])('"%s" is refused', (text) => {
    expect(() => portNames.parse(text)).toThrow(/names such as rpc,metrics, each once/);
  });
});

describe("port ranges", () => {
  test("both ends count, one port is a range", () => {
    expect(portRange.parse("20000-20100")).toEqual({ from: 20_000, to: 20_100 });
    expect(portRange.parse("8888")).toEqual({ from: 8888, to: 8888 });
  });

  test.each(["20100-20000", "0-10", "1-70000", "any"])('"%s" is refused', (text) => {
    expect(() => portRange.parse(text)).toThrow(/20000-20100/);
  });
});

test("a web address may hold a secret: it is not told where it is refused", () => {
  expect(webAddress.parse(" https://chat.example/hooks/abc ")).toBe("https://chat.example/hooks/abc");
  for (const text of ["", "ftp://chat.example/abc", "https://", "chat.example/abc"])
    expect(() => webAddress.parse(text)).toThrow(/^a URL that begins with http:\/\/ or https:\/\/$/);
});

describe("an address", () => {
  test.each([
    ["hist:1234", "http://hist:1234"],
    [" portal.example/tony ", "http://portal.example/tony"],
    ["https://localhost:9000", "https://localhost:9000"],
  ])("of the portal may be a host alone, as TonY takes it: %j", (text, address) => {
    expect(webPlace.parse(text)).toBe(address);
  });

  test.each(["ftp://portal.example", "portal example", "", "hist:port"])("of the portal is not %j", (text) => {
    expect(() => webPlace.parse(text)).toThrow(/^a URL that begins with http:/);
  });
});
