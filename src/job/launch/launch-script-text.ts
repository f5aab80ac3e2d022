type Environment = Readonly<Record<string, string>>;

/**
 * Escapes text so that a NodeManager's launch script yields it unchanged. The script puts values and commands between double quotes
 * unescaped, after replacing `{{`, `}}`, `<LOG_DIR>` and `<CPS>`
 * (org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch#expandEnvironment).
 */
export function escapeForLaunchScript(text: string): string {
  return separateBraces(escapeCharacters(text));
}

/** The same for the values of an environment. */
export function escapeEnvironment(environment: Environment): Record<string, string> {
  return withValues(environment, escapeForLaunchScript);
}

/**
 * The parts of a person's value that the launch script should expand: `$NAME`, `${NAME}` or YARN's `{{NAME}}`, in braces also with a
 * default without special characters, as `${NAME:-none}`. `\$` and YARN's `<LOG_DIR>` and `<CPS>` are kept for the person as well.
 */
const expanded =
  /\\\$|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*(?::?[-+][^{}<>$`"\\]*)?\}|\{\{(?<name>[A-Za-z_]\w*)\}\}|<LOG_DIR>|<CPS>/g;

/** A person's values: the container's start expands variables in them, and nothing else; no value can end its quotes or run a command. */
export function expandableEnvironment(environment: Environment): Record<string, string> {
  return withValues(environment, (value) => {
    let written = "";
    let end = 0;
    for (const match of value.matchAll(expanded)) {
      const name = match.groups?.name;
      written += escapeCharacters(value.slice(end, match.index)) + (name === undefined ? match[0] : `\${${name}}`);
      end = match.index + match[0].length;
    }
    return separateBraces(written + escapeCharacters(value.slice(end)));
  });
}

function escapeCharacters(text: string): string {
  return text.replace(/[\\"$`]/g, "\\$&").replace(/<(?=(LOG_DIR|CPS)>)/g, '<""');
}

/** Inserts an empty text, as two quotes, into what a NodeManager would replace. */
function separateBraces(text: string): string {
  return text.replace(/([{}])(?=\1)/g, '$1""');
}

function withValues(environment: Environment, written: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, written(value)]));
}
