import { describe, expect, test } from "@jest/globals";
import { parseProperties } from "../../../src/hadoop/conf/xml.ts";

const document = (body: string) => `<?xml version="1.0"?>\n<configuration>\n${body}\n</configuration>`;
const files = (texts: Record<string, string>) => ({ readText: (path: string) => texts[path] });

describe("a Hadoop configuration file", () => {
  test("gives each property with its line, name trimmed and value as written", () => {
    const text = document("<property>\n <name> a.b </name>\n <value> x </value>\n <final>true</final>\n</property>");
    expect(parseProperties(text, "core-site.xml")).toEqual([
      { name: "a.b", value: " x ", final: true, file: "core-site.xml", line: 3 },
    ]);
  });

  test("knows the attribute form", () => {
    const text = document('<property name="a" value="1" final="true"/>\n<property name="b" value=""/>');
    expect(parseProperties(text, "f")).toEqual([
      { name: "a", value: "1", final: true, file: "f", line: 3 },
      { name: "b", value: "", final: false, file: "f", line: 4 },
    ]);
  });

  test("an empty or missing value element is no value", () => {
    const text = document("<property><name>a</name><value></value></property><property><name>b</name></property>");
    expect(parseProperties(text, "f").map((property) => property.value)).toEqual([undefined, undefined]);
  });

  test("reads CDATA and entities, and ignores comments and descriptions", () => {
    const text = document(
      "<property><name>a</name><!-- no --><value><![CDATA[<x>]]>&amp;y</value><description>d</description></property>",
    );
    expect(parseProperties(text, "f")[0]?.value).toBe("<x>&y");
  });

  test("takes only the exact word true for final", () => {
    const text = document("<property><name>a</name><value>1</value><final>TRUE</final></property>");
    expect(parseProperties(text, "f")[0]?.final).toBe(false);
  });

  test.each([
    [
      "a tag left open",
      "<configuration>\n<property>",
      /^f:2: not well-formed XML: <property> is opened here and has no <\/property> up to line 2$/,
    ],
    [
      "a tag left open before another one's end",
      document("<property>\n<name>a</name>\n<value>1\n</property>"),
      /^f:5: not well-formed XML: <value> is opened here/,
    ],
    [
      "a property left open before the next one",
      document("<property><name>a</name>\n<property><name>b</name></property>"),
      /^f:3: not well-formed XML: <property> is opened here/,
    ],
    ["text that is no XML", "hello", /^f:1: not well-formed XML/],
    ["another kind of file", "<project/>", /^f:1: a Hadoop configuration starts with <configuration>/],
  ])("%s is refused with file and line", (_, text, message) => {
    expect(() => parseProperties(text, "f")).toThrow(message);
  });

  const valueLines = (...lines: readonly string[]) =>
    document(["<property><name>a</name><value>", ...lines, "</value></property>"].join("\n"));
  test.each([
    ["&& of a shell, read on to the end of the file", valueLines("", "cd x && python3 train.py"), 5],
    ["&& of a shell, read on to the next ;", valueLines("cd x && ls", "", "true; true"), 4],
    ["2>&1", valueLines("python3 train.py 2>&1"), 4],
    ["the parameters of a URL in an attribute", document('\n<property name="a" value="http://h?a=1&b=2"/>'), 4],
    [
      "one after a comment, CDATA and entities that may hold it",
      valueLines("<!-- & --><![CDATA[&]]>&amp;&#38;", "&"),
      5,
    ],
  ])("a bare & is named in its own line: %s", (_, text, line) => {
    const message = `f:${line}: a bare & is not allowed in XML: write &amp;, so && is &amp;&amp;`;
    expect(() => parseProperties(text, "f")).toThrow(message);
  });

  test.each([
    ["a < b", "disallowed character in tag name; where a < is meant write &lt;"],
    ["a &copy; b", "undefined entity; where an & is meant write &amp;, so && is &amp;&amp;"],
  ])("%s is told how to be written", (value, message) => {
    expect(() => parseProperties(valueLines(value), "f")).toThrow(`f:4: not well-formed XML: ${message}`);
  });

  test.each(['"1g"', 'SYSTEM "file:///etc/passwd"'])(
    "an entity that a DOCTYPE declares as %s is told as that",
    (what) => {
      const text = `<!DOCTYPE c [<!ENTITY n "2g"> <!ENTITY m ${what}>]>\n${valueLines("&m;").slice(22)}`;
      expect(() => parseProperties(text, "f")).toThrow(
        "f:4: the entities of a DOCTYPE are not read: write what &m; stands for in its place",
      );
    },
  );

  const lost = (body: string) => {
    const said: string[] = [];
    const onLost = (message: string, { line }: { line: number }) => said.push(`${line}: ${message}`);
    const onUnnamed = ({ line }: { line: number }) => said.push(`${line}: no name`);
    const read = parseProperties(document(body), "f", { onLost, onUnnamed });
    return { said, read: read.map(({ name, value }) => [name, value]) };
  };

  test("an element that stands twice is told of; as in Hadoop the last one counts", () => {
    expect(lost("<property><name>a</name><value>1</value>\n<value>2</value></property>")).toEqual({
      read: [["a", "2"]],
      said: ["4: this <property> has a second <value>, and the first one has no effect: take one out"],
    });
    expect(lost("<property><name>a</name><name>b</name><value>1</value></property>")).toEqual({
      read: [["b", "1"]],
      said: ["3: this <property> has a second <name>, and the first one has no effect: take one out"],
    });
  });

  test("so are elements inside others", () => {
    expect(lost("<property><name>a</name><value><b>1</b></value></property>")).toEqual({
      read: [["a", "1"]],
      said: ["3: <b> inside <value> has no meaning, only its text counts: take the tag out"],
    });
    expect(lost("<property><name>a<value>1</value></name></property>")).toEqual({
      read: [],
      said: ["3: <value> stands inside <name>, whose text is lost: write </name> before it"],
    });
    expect(lost("<property><name>a</name><description><b>x</b></description><value>1</value></property>").said).toEqual(
      [],
    );
  });

  test("an & further down is not blamed for a mistake above it", () => {
    expect(() => parseProperties("<configuration>\n</wrong>\n&\n", "f")).toThrow(
      /^f:1: not well-formed XML: <configuration> is opened here and has no <\/configuration> up to line 2$/,
    );
  });

  test("a property without a name is skipped, as by Hadoop, and its place told", () => {
    const places: unknown[] = [];
    const onUnnamed = (place: unknown) => places.push(place);
    expect(parseProperties(document("<property><value>1</value></property>"), "f", { onUnnamed })).toEqual([]);
    expect(places).toEqual([{ file: "f", line: expect.any(Number) }]);
  });
});

describe("include", () => {
  const included = document("<property><name>a</name><value>1</value></property>");

  test("puts the other file's properties in its place, under that file's name", () => {
    const text = document('<xi:include href="sub/b.xml" xmlns:xi="http://www.w3.org/2001/XInclude"/>');
    expect(parseProperties(text, "/c/a.xml", files({ "/c/sub/b.xml": included }))).toEqual([
      { name: "a", value: "1", final: false, file: "/c/sub/b.xml", line: 3 },
    ]);
  });

  test("nested relative names start at the folder of the first file, as in Hadoop", () => {
    const texts = { "/c/sub/b.xml": document('<include href="c.xml"/>'), "/c/c.xml": included };
    expect(parseProperties(document('<include href="sub/b.xml"/>'), "/c/a.xml", files(texts))).toHaveLength(1);
  });

  const withFallback = document(
    '<include href="b.xml"><fallback><property><name>z</name><value>0</value></property></fallback></include>',
  );

  test("a missing file takes the fallback", () => {
    expect(parseProperties(withFallback, "/c/a.xml", files({})).map(({ name }) => name)).toEqual(["z"]);
  });

  test("a file that is there leaves the fallback out", () => {
    expect(parseProperties(withFallback, "/c/a.xml", files({ "/c/b.xml": included })).map(({ name }) => name)).toEqual([
      "a",
    ]);
  });

  test("files that include the next one twice, thirty deep, are an error and no work of hours", () => {
    const twice = (name: string) => document(`<include href="${name}"/><include href="${name}"/>`);
    const texts = Object.fromEntries(
      Array.from({ length: 30 }, (_, depth) => [`/c/${depth}.xml`, twice(`${depth + 1}.xml`)]),
    );
    const readable = files({ ...texts, "/c/30.xml": included });
    expect(() => parseProperties(twice("1.xml"), "/c/0.xml", readable)).toThrow(/may include 100 files/);
  });

  test("a missing file without fallback, a circle and a web address are errors with file and line", () => {
    const circle = document('<include href="a.xml"/>');
    expect(() => parseProperties(circle, "/c/a.xml", files({}))).toThrow(
      '/c/a.xml:3: <include href="a.xml"> leads back to itself',
    );
    expect(() => parseProperties(document('<include href="b.xml"/>'), "/c/a.xml", files({}))).toThrow(
      '/c/a.xml:3: <include href="b.xml"> names a file that does not exist',
    );
    expect(() => parseProperties(document('<include href="http://h/b.xml"/>'), "/c/a.xml", files({}))).toThrow(
      "is not a local file",
    );
  });
});
