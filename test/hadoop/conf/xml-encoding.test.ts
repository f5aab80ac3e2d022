import { expect, test } from "@jest/globals";
import { decodeXml } from "../../../src/hadoop/conf/xml-encoding.ts";

const utf16 = (text: string) => Buffer.from(text, "utf16le");

test.each<[string, Buffer, string]>([
  ["UTF-8", Buffer.from("<a>für</a>"), "<a>für</a>"],
  ["UTF-8 with a mark", Buffer.from("\uFEFF<a>für</a>"), "<a>für</a>"],
  ["a sign that stands for what was lost elsewhere", Buffer.from("<a>\uFFFD</a>"), "<a>\uFFFD</a>"],
  [
    "ISO-8859-1, declared",
    Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>für</a>', "latin1"),
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>für</a>',
  ],
  [
    "UTF-8 with a mark, whatever is declared",
    Buffer.from("\uFEFF<?xml version='1.0' encoding='ISO-8859-1'?><a>für</a>"),
    "<?xml version='1.0' encoding='ISO-8859-1'?><a>für</a>",
  ],
  ["UTF-16 with a mark", utf16("\uFEFF<a>für</a>"), "<a>für</a>"],
  ["UTF-16 without", utf16("<a>für</a>"), "<a>für</a>"],
  ["UTF-16, the other byte first", utf16("\uFEFF<a>für</a>").swap16(), "<a>für</a>"],
  [
    "declared UTF-16, and is not",
    Buffer.from("<?xml version='1.0' encoding='UTF-16'?><a/>"),
    "<?xml version='1.0' encoding='UTF-16'?><a/>",
  ],
  ["no XML", Buffer.from("print(1)"), "print(1)"],
])("%s is read as it is written", (_what, bytes, text) => {
  expect(decodeXml(bytes, "job.xml")).toBe(text);
});

test.each<[string, Buffer, string]>([
  [
    "bytes that are not UTF-8",
    Buffer.from("<a>\n\nfür</a>", "latin1"),
    'job.xml:3: what stands here is not UTF-8: store the file as UTF-8, or say how it is written in its first line: <?xml version="1.0" encoding="ISO-8859-1"?>',
  ],
  [
    "an encoding that nobody knows",
    Buffer.from("<?xml version='1.0' encoding='klingon'?><a/>"),
    'job.xml:1: its encoding, klingon, is not known here: store it as UTF-8 and take encoding="klingon" out',
  ],
  [
    "bytes that are not as declared",
    Buffer.from("<?xml version='1.0' encoding='shift_jis'?><a>\xFF</a>", "latin1"),
    "job.xml:1: what stands here is not shift_jis: store the file as UTF-8",
  ],
  [
    "half a sign of UTF-16",
    utf16("<a>").subarray(0, 5),
    "job.xml:1: what stands here is not utf-16le: store the file as UTF-8",
  ],
])("%s are refused with file and line", (_what, bytes, message) => {
  expect(() => decodeXml(bytes, "job.xml")).toThrow(message);
  expect(() => decodeXml(bytes, "job.xml")).toThrow(
    expect.objectContaining({ code: "CONFIGURATION_MALFORMED", cause: expect.anything() }),
  );
});
