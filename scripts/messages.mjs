// Generates the types and codecs of proto/tony: src/api/generated/types.ts and codecs.ts, with tables of fields for src/api/fields.ts.
import path from "node:path";
import protobuf from "protobufjs";

/**
 * @typedef {import("protobufjs").Type} Type
 * @typedef {import("protobufjs").Field} Field
 * @typedef {import("protobufjs").OneOf} OneOf
 */

/** @type {Readonly<Record<string, readonly [kind: string, type: string]>>} */
const scalars = {
  uint32: ["whole", "number"],
  uint64: ["whole", "number"],
  int32: ["small", "number"],
  int64: ["large", "number"],
  sint64: ["signed", "number"],
  double: ["real", "number"],
  bool: ["flag", "boolean"],
  string: ["text", "string"],
  bytes: ["data", "Uint8Array"],
};
/** @type {Readonly<Record<string, string>>} */
const maps = { uint32: "wholes", uint64: "wholes", double: "amounts", string: "texts" };

/**
 * @param {string} folder
 * @param {readonly string[]} sources
 * @returns {Record<string, string>} the content of both files, by name
 */
export function messageModules(folder, sources) {
  const root = loaded(folder, sources);
  const messages = /** @type {import("protobufjs").Namespace} */ (root.lookup("tony.v1")).nestedArray.flatMap((it) =>
    it instanceof protobuf.Type ? [it] : [],
  );
  const types = new Module();
  const codecs = new Module();
  /** @type {Set<Type>} */
  const done = new Set();
  const visit = (/** @type {Type} */ message) => {
    if (done.has(message)) return;
    done.add(message);
    for (const { resolvedType } of message.fieldsArray) if (resolvedType instanceof protobuf.Type) visit(resolvedType);
    writeTypes(message, types);
    writeCodec(message, codecs);
  };
  messages.forEach(visit);
  return { "types.ts": types.text(), "codecs.ts": codecs.text() };
}

/**
 * @param {string} folder
 * @param {readonly string[]} sources
 */
function loaded(folder, sources) {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) =>
    target.startsWith("google/")
      ? path.join(path.dirname(folder), "../node_modules/protobufjs", target)
      : path.join(folder, path.basename(target));
  root.loadSync(
    sources.map((name) => `${name}.proto`),
    { alternateCommentMode: true },
  );
  return root.resolveAll();
}

/** Lines of code, and their imports. */
class Module {
  /** @type {string[]} */
  #lines = [];
  /** @type {Map<string, { file: string, kind: string, names: Set<string> }>} */
  #imports = new Map();

  /** @param {string[]} lines */
  add(...lines) {
    this.#lines.push(...lines);
  }

  /**
   * @param {string} file
   * @param {string} name
   * @returns the name
   */
  use(file, name, kind = "") {
    const names = this.#imports.get(kind + file) ?? { file, kind, names: new Set() };
    names.names.add(name);
    this.#imports.set(kind + file, names);
    return name;
  }

  text() {
    const imports = [...this.#imports.values()].map(
      ({ file, kind, names }) => `import ${kind}{ ${[...names].sort().join(", ")} } from "${file}";`,
    );
    return [...imports.sort(), "", ...this.#lines, ""].join("\n");
  }
}

/**
 * @param {Type | Field} object
 * @param {string} name
 * @returns {any}
 */
const optionOf = (object, name) => object.options?.[`(${name})`];
/** @param {string} name */
const lower = (name) => name.charAt(0).toLowerCase() + name.slice(1);
/** @param {string} name */
const upper = (name) => name.charAt(0).toUpperCase() + name.slice(1);
/** @param {string} name */
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** @param {string | null} text */
const comment = (text) => (text ? [`/** ${text.replaceAll("\n", " ")} */`] : []);
/** @param {Field} field */
const isOptional = (field) => field.options?.proto3_optional === true;
/**
 * False for a oneof that represents one optional field.
 * @param {OneOf} choice
 */
const isChoice = (choice) => !choice.fieldsArray.some(isOptional);
/** @param {Type} message */
const choicesOf = (message) => message.oneofsArray.filter(isChoice);
/** @param {Type} message */
const ownFields = (message) =>
  message.fieldsArray.filter(({ partOf }) => !partOf || !isChoice(partOf)).sort((one, other) => one.id - other.id);

/**
 * The type that programs use for the message.
 * @param {Type} message
 * @param {Module} types
 */
function typeOf(message, types) {
  const home = optionOf(message, "home");
  return home === undefined ? message.name : types.use(...placeOf(home), "type ");
}

/**
 * @param {string} place FILE#NAME
 * @returns {[file: string, name: string]} the file's path for imports in the generated files
 */
function placeOf(place) {
  const [file = "", name = ""] = place.split("#");
  return [path.posix.relative("src/api/generated", file), name];
}

/**
 * The place of a hand-written table for a field's value.
 * @param {Field} field
 * @returns {[file: string, name: string] | undefined}
 */
function handMade(field) {
  const word = optionOf(field, "word");
  const tables = optionOf(field, "tables");
  if (word !== undefined) return ["../words.ts", word];
  return tables === undefined ? undefined : placeOf(tables);
}

/** @param {Type} message */
const isOnlyChoice = (message) => choicesOf(message).length === 1 && ownFields(message).length === 0;

/**
 * @param {Type} message
 * @param {Module} types
 */
function writeTypes(message, types) {
  for (const choice of choicesOf(message)) {
    types.add(`export type ${choiceName(message, choice)} =`);
    for (const field of choice.fieldsArray)
      types.add(...comment(field.comment).map((line) => `  ${line}`), `  | ${memberType(field, types)}`);
    types.add(`  | { readonly type: "unknown" };`, "");
  }
  const converted = optionOf(message, "converted");
  if (isOnlyChoice(message) || (optionOf(message, "home") !== undefined && !converted)) return;
  types.add(...comment(message.comment), `export interface ${converted ? `Wire${message.name}` : message.name} {`);
  for (const field of ownFields(message)) {
    types.add(...comment(field.comment).map((line) => `  ${line}`));
    types.add(`  readonly ${field.name}${mayBeAbsent(field) ? "?" : ""}: ${fieldType(field, types)};`);
  }
  for (const choice of choicesOf(message)) types.add(`  readonly ${choice.name}: ${choiceName(message, choice)};`);
  types.add("}", "");
}

/**
 * @param {Type} message
 * @param {OneOf} choice
 */
function choiceName(message, choice) {
  if (isOnlyChoice(message)) return optionOf(message, "converted") ? `Wire${message.name}` : message.name;
  return message.name + upper(choice.name);
}

/**
 * @param {Field} field
 * @param {Module} types
 */
function memberType(field, types) {
  const tag = `readonly type: "${kebab(field.name)}"`;
  const as = optionOf(field, "as") ?? (field.resolvedType ? undefined : field.name);
  if (as !== undefined) return `{ ${tag}; readonly ${as}: ${valueType(field, types)} }`;
  return field.resolvedType instanceof protobuf.Type && field.resolvedType.fieldsArray.length === 0
    ? `{ ${tag} }`
    : `({ ${tag} } & ${valueType(field, types)})`;
}

/** @param {Field} field */
const mayBeAbsent = (field) => isOptional(field) || optionOf(field, "absent_when_empty") === true;

/**
 * @param {Field} field
 * @param {Module} types
 */
function fieldType(field, types) {
  const value = valueType(field, types);
  if (field.map) return `Readonly<Record<string, ${value}>>`;
  return field.repeated ? `readonly ${value}[]` : value;
}

/**
 * @param {Field} field
 * @param {Module} types
 */
function valueType(field, types) {
  const table = handMade(field);
  if (table !== undefined)
    return `${types.use("../fields.ts", "ValueOf", "type ")}<typeof ${types.use(...table, "type ")}>`;
  if (field.resolvedType instanceof protobuf.Enum)
    return Object.keys(wordsOf(field, field.resolvedType))
      .map((word) => `"${word}"`)
      .join(" | ");
  return field.resolvedType ? typeOf(field.resolvedType, types) : scalarOf(field)[1];
}

/**
 * An enum's words and their numbers; without 0 where the field is absent instead.
 * @param {Field} field
 * @param {import("protobufjs").Enum} type
 */
function wordsOf(field, { values }) {
  const all = Object.entries(values).filter(([, number]) => number !== 0 || !mayBeAbsent(field));
  return Object.fromEntries(all.map(([name, number]) => [name.toLowerCase().replaceAll("_", "-"), number]));
}

/**
 * @param {Type} message
 * @param {Module} codecs
 */
function writeCodec(message, codecs) {
  const of = (/** @type {string} */ name) => codecs.use("../fields.ts", name);
  const fields = ownFields(message).map((field) => `  ${field.name}: ${fieldCodec(field, codecs)},`);
  const choices = choicesOf(message).map((choice) => ({
    name: choice.name,
    code: choiceCodec(message, choice, codecs),
  }));
  const form = isOnlyChoice(message)
    ? choices.map(({ code }) => `${of("onlyChoice")}(${code})`)
    : [
        `${of("message")}<${typeInCodecs(message, codecs)}>({`,
        ...fields,
        ...choices.map(({ name, code }) => `  ${name}: ${code},`),
        "})",
      ];
  const whole = form.join("\n");
  const name = lower(message.name);
  codecs.add(
    `export const ${name} = ${optionOf(message, "converted") ? `${codecs.use("../converters.ts", `${name}Of`)}(${whole})` : whole};`,
    "",
  );
}

/**
 * @param {Type} message
 * @param {Module} codecs
 */
function typeInCodecs(message, codecs) {
  if (optionOf(message, "converted")) return codecs.use("./types.ts", `Wire${message.name}`, "type ");
  const home = optionOf(message, "home");
  return home === undefined ? codecs.use("./types.ts", message.name, "type ") : typeOf(message, codecs);
}

/**
 * @param {Type} message
 * @param {OneOf} choice
 * @param {Module} codecs
 */
function choiceCodec(message, choice, codecs) {
  const member = codecs.use("../fields.ts", "member");
  const members = choice.fieldsArray.map((field) => {
    const as = optionOf(field, "as") ?? (field.resolvedType ? undefined : field.name);
    const name = as === undefined ? "" : `, "${as}"`;
    return `    "${kebab(field.name)}": ${member}(${field.id}, ${kindOf(field, codecs)}${name}),`;
  });
  const type = codecs.use("./types.ts", choiceName(message, choice), "type ");
  return [`${codecs.use("../fields.ts", "choice")}<${type}>({`, ...members, "  })"].join("\n");
}

/**
 * @param {Field} field
 * @param {Module} codecs
 */
function fieldCodec(field, codecs) {
  const use = (/** @type {string} */ name) => codecs.use("../fields.ts", name);
  if (field.map) {
    const kind = maps[field.type] ?? "";
    const name = mayBeAbsent(field) ? `some${upper(kind)}` : kind;
    return `${use(name)}(${field.id})`;
  }
  if (!field.repeated && optionOf(field, "absent_when_empty")) {
    const { resolvedType } = field;
    if (!(resolvedType instanceof protobuf.Enum)) return `${use("someText")}(${field.id})`;
    return `${use("someNumbered")}(${field.id}, ${JSON.stringify(wordsOf(field, resolvedType))})`;
  }
  const form = field.repeated ? (mayBeAbsent(field) ? "some" : "many") : isOptional(field) ? "maybe" : "one";
  return `${use(form)}(${field.id}, ${kindOf(field, codecs)})`;
}

/**
 * @param {Field} field
 * @param {Module} codecs
 */
function kindOf(field, codecs) {
  const table = handMade(field);
  if (table !== undefined) return codecs.use(...table);
  if (field.resolvedType instanceof protobuf.Enum) {
    return `${codecs.use("../fields.ts", "numbered")}(${JSON.stringify(wordsOf(field, field.resolvedType))})`;
  }
  return field.resolvedType ? lower(field.resolvedType.name) : codecs.use("../fields.ts", scalarOf(field)[0]);
}

/** @param {Field} field */
function scalarOf({ type, fullName }) {
  const scalar = scalars[type];
  if (scalar === undefined) throw new Error(`${fullName}: no kind of src/api/fields.ts is for ${type}`);
  return scalar;
}
