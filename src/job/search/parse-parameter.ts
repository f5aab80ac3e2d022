import { type Condition, type Described, type Domain, onStep, type ParameterValue, stepsOf } from "./space.ts";

const FORMS = "float 1e-5 1e-1 log, float 0 1 step 0.1, int 1 8 or choice adam sgd";
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Reads a parameter: `float LOW HIGH [log | step S]`, `int LOW HIGH [log | step S]` or `choice VALUE…`, each optionally followed by `when
 * NAME=VALUE[,VALUE…]`. A value with blanks is written in double quotes.
 * @throws RangeError whose message completes "… must be"
 */
export function parseParameter(text: string): Described {
  const refuse = (mustBe: string) => new RangeError(`${mustBe}, not "${text.trim()}"`);
  if (text.split('"').length % 2 === 0) throw refuse("a parameter with a closing quote behind each value in quotes");
  const parts = text.match(/"[^"]*"|[^"]+/g) ?? [];
  if (parts.some((part, at) => part.startsWith('"') && isGlued(parts[at - 1], parts[at + 1])))
    throw refuse("a parameter with blanks around each value in quotes, which has none itself");
  const words = text.match(/"[^"]*"|[^\s"]+/g) ?? [];
  const [kind, ...rest] = words;
  const at = rest.indexOf("when");
  const said = at === -1 ? rest : rest.slice(0, at);
  const when = at === -1 ? undefined : parseCondition(rest.slice(at + 1).join(""), refuse);
  return { domain: parseDomain(kind, said, refuse), ...(when === undefined ? {} : { when }) };
}

/** Whether a quoted value is part of a longer word, by the characters around it. */
function isGlued(before = "", behind = ""): boolean {
  return /[^\s=,[({]$/.test(before) || /^[^\s=,\])}]/.test(behind);
}

type Refuse = (mustBe: string) => RangeError;

function parseDomain(kind: string | undefined, words: readonly string[], refuse: Refuse): Domain {
  if (kind === "choice") {
    if (words.some((word) => word.startsWith("'")) && words.some((word) => word.endsWith("'")))
      throw refuse(`choice with values in ", not in '`);
    if (isList(words)) throw refuse(`choice with blanks alone between its values, such as ${choiceWords(words)}`);
    return { kind, choices: parseChoices(words.map(unquoted), refuse) };
  }
  if (kind !== "float" && kind !== "int") throw refuse(`a parameter such as ${FORMS}`);
  const [lowWord = "", highWord = "", form, stepWord, ...more] = words;
  const [low, high] = [numberOf(lowWord, kind), numberOf(highWord, kind)];
  const isForm = form === undefined || (form === "log" && stepWord === undefined) || (form === "step" && stepWord);
  if (low === undefined || high === undefined || !isForm || more.length > 0) {
    throw refuse(
      `${kind} LOW HIGH, with either log or step S behind it if you like, such as ${kind === "int" ? "int 8 512 log" : "float 1e-5 1e-1 log"}`,
    );
  }
  if (low > high) throw refuse(`${kind} LOW HIGH with the lower number first`);
  if (form === "log" && low <= 0) throw refuse(`${kind} LOW HIGH log with LOW above 0`);
  const step = form === "step" ? numberOf(stepWord ?? "", kind) : kind === "int" ? 1 : undefined;
  if (form === "step") {
    const mustBe = `${kind} LOW HIGH step S with S above 0 and HIGH a whole number of steps above LOW`;
    if (step === undefined || step <= 0) throw refuse(mustBe);
    if (Math.abs(low + stepsOf(low, high, step) * step - high) > 1e-9 * step) {
      const below = onStep({ kind, low, high, log: false, step }, Math.max(1, Math.floor((high - low) / step)));
      throw refuse(`${mustBe}, such as ${kind} ${low} ${below} step ${step}`);
    }
  }
  return { kind, low, high, log: form === "log", ...(step === undefined ? {} : { step }) };
}

function numberOf(word: string, kind: "float" | "int"): number | undefined {
  const value = NUMBER.test(word) ? Number(word) : Number.NaN;
  return (kind === "int" ? Number.isSafeInteger(value) : Number.isFinite(value)) ? value : undefined;
}

/** Whether values are written as a list of another language: with commas, or in brackets. A value that contains these is written in quotes. */
function isList(words: readonly string[]): boolean {
  const isInBrackets = /^[[({]/.test(words[0] ?? "") && /[\])}]$/.test(words.at(-1) ?? "");
  return isInBrackets || words.some((word) => !word.startsWith('"') && word.includes(","));
}

function choiceWords(words: readonly string[]): string {
  const values = words
    .join(" ")
    .replace(/^[[({]|[\])}]$/g, "")
    .split(/[\s,]+/);
  return `choice ${values.filter((value) => value !== "").join(" ")} (or in " where a value has them)`;
}

/** Choices that are all numbers are numbers for the program, too. */
function parseChoices(words: readonly string[], refuse: Refuse): readonly [ParameterValue, ...ParameterValue[]] {
  const values: readonly ParameterValue[] = words.every((word) => NUMBER.test(word)) ? words.map(Number) : words;
  const [first, ...others] = values;
  if (first === undefined) throw refuse("choice with the values behind it, such as choice adam sgd");
  if (new Set(values).size < values.length) throw refuse("choice with each value once");
  return [first, ...others];
}

function parseCondition(text: string, refuse: Refuse): Condition {
  const [, parameter, list] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const values = (list ?? "").split(",").map(unquoted);
  if (parameter === undefined || values.includes("")) {
    throw refuse("a parameter with when NAME=VALUE behind it, such as float 0 1 when optimizer=sgd");
  }
  return { parameter, values };
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1) : word;
}

/** As a person writes it. */
export function parameterWords({ domain, when }: Described): string {
  const condition = when === undefined ? "" : ` when ${when.parameter}=${when.values.map(quoted).join(",")}`;
  return `${domainWords(domain)}${condition}`;
}

/** The same without its condition. */
export function domainWords(domain: Domain): string {
  if (domain.kind === "choice") return `choice ${domain.choices.map((choice) => quoted(String(choice))).join(" ")}`;
  const { kind, low, high, log, step } = domain;
  const hasStep = step !== undefined && !(kind === "int" && step === 1);
  return `${kind} ${low} ${high}${log ? " log" : ""}${hasStep ? ` step ${step}` : ""}`;
}

function quoted(text: string): string {
  return /^(?!')[^\s",[\](){}]+$/.test(text) ? text : `"${text}"`;
}
