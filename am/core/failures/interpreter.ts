/** The Python that a command names. */
export interface NamedInterpreter {
  readonly program: string;
  /** The variable that stands for it in the command. */
  readonly variable?: string;
}

const WRITTEN = /[^\s"'`;&|()=]*\bpython[\d.]*(?=\s|$)/;
/** `$PYTHON`, `"${PYTHON:-python3}"`: a word that is one variable. */
const VARIABLE = /(?<=^|[\s;&|(])"?\$(?:(\w+)|\{(\w+)(?::-([^{}]*))?\})"?(?=\s|$)/g;

/** @param environment what the command's variables come to, where the job sets them */
export function interpreterOf(
  command: string,
  environment: Readonly<Record<string, string>>,
): NamedInterpreter | undefined {
  const [written] = WRITTEN.exec(command) ?? [];
  if (written !== undefined) return { program: written };
  for (const [, bare, braced = "", preset = ""] of command.matchAll(VARIABLE)) {
    const variable = bare ?? braced;
    const program = environment[variable] || preset;
    if (/(^|\/)python[\d.]*$/.test(program)) return { program, variable };
  }
  return undefined;
}
