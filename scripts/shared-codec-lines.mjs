// Replaces lines that protobufjs's generator repeats in every message by calls to shared functions of the module: the code of all messages
// gets a third smaller.

/** Defined once, after the generator's own imports. */
const functions = `
const $hasOwn = $Object.prototype.hasOwnProperty;
const $assign = (message, properties) => {
    if (properties)
        for (const key of $Object.keys(properties))
            if (properties[key] != null && key !== "__proto__")
                message[key] = properties[key];
};
const $list = (message, name) => message[name] && message[name].length ? message[name] : message[name] = [];
const $depth = (depth = 0, limit) => {
    if (depth > limit)
        throw $Error("max depth exceeded");
    return depth;
};
const $limit = (reader, end) => {
    if (end > reader.len)
        throw $RangeError("index out of range");
    const before = reader.len;
    reader.len = end;
    return before;
};
const $end = (reader, end, length, group) => {
    if (length !== $undefined) {
        if (reader.pos !== end)
            throw $RangeError("index out of range");
        reader.len = length;
    }
    if (group !== $undefined)
        throw $Error("missing end group");
};
const $require = (message, name) => {
    if (!$hasOwn.call(message, name))
        throw $util.ProtocolError("missing required '" + name + "'", { instance: message });
};
const $keepUnknown = (message, reader, start) => {
    if (reader.discardUnknown)
        return;
    $util.makeProp(message, "$unknowns", false);
    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
};
const $writeUnknowns = (message, writer) => {
    if (message.$unknowns != null && $hasOwn.call(message, "$unknowns"))
        for (const bytes of message.$unknowns)
            writer.raw(bytes);
};
const $zero = $util.Long ? $util.Long.fromBits(0, 0, false) : 0;
const $unsignedZero = $util.Long ? $util.Long.fromBits(0, 0, true) : 0;
`;

/**
 * The generator's lines, and the call that replaces them. `NAME` is the name of a field. @type {readonly (readonly [lines: readonly
 * string[], call: string])[]}
 */
const replacements = [
  [
    [
      "if (properties)",
      "for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)",
      'if (properties[keys[i]] != null && keys[i] !== "__proto__")',
      "this[keys[i]] = properties[keys[i]];",
    ],
    "$assign(this, properties);",
  ],
  [
    [
      'if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))',
      "for (let i = 0; i < message.$unknowns.length; ++i)",
      "writer.raw(message.$unknowns[i]);",
    ],
    "$writeUnknowns(message, writer);",
  ],
  [
    [
      "if (_depth === $undefined)",
      "_depth = 0;",
      "if (_depth > $util.recursionLimit)",
      'throw $Error("max depth exceeded");',
    ],
    "_depth = $depth(_depth, $util.recursionLimit);",
  ],
  [
    [
      "if (_depth === $undefined)",
      "_depth = 0;",
      "if (_depth > $Reader.recursionLimit)",
      'throw $Error("max depth exceeded");',
    ],
    "_depth = $depth(_depth, $Reader.recursionLimit);",
  ],
  [
    [
      "end = reader.pos + length;",
      "if (end > reader.len)",
      'throw $RangeError("index out of range");',
      "length = reader.len;",
      "reader.len = end;",
    ],
    "end = reader.pos + length; length = $limit(reader, end);",
  ],
  [
    [
      "if (!reader.discardUnknown) {",
      '$util.makeProp(message, "$unknowns", false);',
      "(message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));",
      "}",
    ],
    "$keepUnknown(message, reader, start);",
  ],
  [
    ["if (!(message.NAME && message.NAME.length))", "message.NAME = [];", "message.NAME.push("],
    '$list(message, "NAME").push(',
  ],
  [
    [
      "if (length !== $undefined) {",
      "if (reader.pos !== end)",
      'throw $RangeError("index out of range");',
      "reader.len = length;",
      "}",
      "if (_end !== $undefined)",
      'throw $Error("missing end group");',
    ],
    "$end(reader, end, length, _end);",
  ],
  [
    [
      'if (!$Object.hasOwnProperty.call(message, "NAME"))',
      "throw $util.ProtocolError(\"missing required 'NAME'\", { instance: message });",
    ],
    '$require(message, "NAME");',
  ],
  [["$Object.hasOwnProperty.call("], "$hasOwn.call("],
  [["$util.Long ? $util.Long.fromBits(0,0,false) : 0"], "$zero"],
  [["$util.Long ? $util.Long.fromBits(0,0,true) : 0"], "$unsignedZero"],
];

/**
 * @param {string} code of a static protobufjs module
 * @returns {string} equivalent code
 */
export function shareCodecLines(code) {
  const afterImports = code.indexOf("const $root");
  const shared = replacements.reduce((text, [lines, call]) => {
    const pattern = lines.map(escaped).join("\\s+");
    let first = true;
    const named = pattern.replaceAll("NAME", () => {
      if (!first) return "\\k<name>";
      first = false;
      return "(?<name>[\\w$]+)";
    });
    return text.replace(new RegExp(named, "g"), (...match) => call.replaceAll("NAME", match.at(-1)?.name ?? ""));
  }, code.slice(afterImports));
  return code.slice(0, afterImports) + functions + shared;
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
