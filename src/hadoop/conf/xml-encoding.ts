import { ConfigurationError } from "./errors.ts";

const DECLARED = /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/;

/**
 * Decodes an XML file by its byte order mark, else by the encoding that its first line declares, else as UTF-8.
 * @throws ConfigurationError naming file and line: bytes that do not decode are never silently replaced
 */
export function decodeXml(bytes: Uint8Array, file: string): string {
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigurationError(problemOf(encoding, cause), {
      code: "CONFIGURATION_MALFORMED",
      location: { file, line: lineOfFirstBadByte(bytes, encoding) },
      cause,
    });
  }
}

function encodingOf(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  if (/^(?:\xFF\xFE|<\0)/.test(start)) return "utf-16le";
  if (/^(?:\xFE\xFF|\0<)/.test(start)) return "utf-16be";
  const [, declared = "utf-8"] = DECLARED.exec(start) ?? [];
  // The declaration has just been read one byte per character, so the file is not UTF-16.
  return start.startsWith("\xEF\xBB\xBF") || /^utf-?16/i.test(declared) ? "utf-8" : declared;
}

function problemOf(encoding: string, cause: unknown): string {
  if (cause instanceof RangeError) {
    return `its encoding, ${encoding}, is not known here: store it as UTF-8 and take encoding="${encoding}" out`;
  }
  if (!/^utf-?8$/i.test(encoding)) return `what stands here is not ${encoding}: store the file as UTF-8`;
  return 'what stands here is not UTF-8: store the file as UTF-8, or say how it is written in its first line: <?xml version="1.0" encoding="ISO-8859-1"?>';
}

/** For an encoding with one or more bytes per character; all of those keep ASCII's line break. */
function lineOfFirstBadByte(bytes: Uint8Array, encoding: string): number {
  if (!/^utf-?8$/i.test(encoding)) return 1;
  const [good = ""] = Buffer.from(bytes).toString("utf8").split("\uFFFD");
  return good.split("\n").length;
}
