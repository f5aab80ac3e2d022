import { shippingWords } from "../diagnosis/program-file.ts";
import type { Setting } from "./facts.ts";
import { type ReasonOf, reason } from "./reason.ts";
import { memoryValue, settingWords } from "./words.ts";

const WITHOUT_CARRIAGE_RETURNS = String.raw`sed -i 's/\r$//'`;

const SITE_TOKENS =
  "a site that sets yarn.resourcemanager.proxy-user-privileges.enabled=true lets the ResourceManager obtain new ones";

/** What a person can do about a failure or a wait. */
export const remedies = {
  "raise-memory": reason({ setting: "setting", toMiB: "number", virtual: "flag" }, ({ setting, toMiB, virtual }) => {
    return `raise ${settingWords(setting)}, e.g. to ${memoryValue(toMiB)}${orSite(virtual)}`;
  }),
  "check-command": reason({ setting: "setting" }, ({ setting }) => `check ${commandWords(setting)}`),
  "run-with-python": reason({ setting: "setting", command: "text" }, ({ setting, command }) => {
    const how = isOption(setting) ? `give --executes "${command}"` : `set ${settingWords(setting)} to ${command}`;
    return `bash was given a Python script: ${how}`;
  }),
  "ship-file": reason(
    { file: "text", role: "text" },
    ({ file, role }) => `no ${file} in the container: ship it with ${shippingWords(role)}`,
  ),
  "ship-data": reason({ file: "text", role: "text" }, ({ file, role }) => {
    const written = file.includes("/") ? "; if it writes it, create its folder first" : "";
    return `the job ships no ${file}: if the program reads it, ship it with ${shippingWords(role)}${written}`;
  }),
  "check-file-name": reason(
    { file: "text", role: "text", setting: "setting" },
    ({ file, role, setting }) =>
      `no ${file} in the container: ${checkNameIn(setting)}, and that the job ships it: ${shippingWords(role)}`,
  ),
  "take-similar": reason(
    { file: "text", found: "text", setting: "setting?" },
    ({ file, found, setting }) =>
      `the container has no ${file}, but ${found}: did you mean that${setting === undefined ? "" : ` in ${commandWords(setting)}`}?`,
  ),
  "check-folder": reason(
    { file: "text", setting: "setting" },
    ({ file, setting }) =>
      `the container has no ${file}: shipped files are in its working directory; check the folder from which ${commandWords(setting)} runs it`,
  ),
  "check-file-of-node": reason(
    { file: "text", setting: "setting" },
    ({ file, setting }) => `no ${file} on that node: ${checkNameIn(setting)}`,
  ),
  "find-program": reason(
    { program: "text", role: "text", setting: "setting" },
    ({ program, role, setting }) =>
      `that node's PATH has no ${program}: ${checkNameIn(setting)}, install it there, or ship it with --python_venv or ${shippingWords(role)} and write its path`,
  ),
  "make-executable": reason(
    { file: "text" },
    ({ file }) =>
      `${file} is not executable: chmod +x it before you submit, or run it by its interpreter (bash ${file})`,
  ),
  "open-to-user": reason(
    { file: "text" },
    ({ file }) =>
      `the user that your tasks run as there may not run ${file}: give that user access to it, to what it links to and to the folders above`,
  ),
  "other-machine": reason(
    { file: "text" },
    ({ file }) => `${file} was built for another kind of machine than that node: ship one that was built for it`,
  ),
  "name-interpreter": reason(
    { script: "text" },
    ({ script }) =>
      `the first line (#!) of ${script} names a program that the node does not have: name one that it has; ` +
      `if the file has Windows line endings (CRLF), remove them: ${WITHOUT_CARRIAGE_RETURNS} ${script}`,
  ),
  "remove-carriage-returns": reason(
    {},
    () => `the script has Windows line endings (CRLF): remove them with ${WITHOUT_CARRIAGE_RETURNS}`,
  ),
  "bring-module": reason(
    {
      interpreter: "text?",
      setting: "setting",
      option: "text?",
      variable: "text?",
      similar: "text?",
      environment: "text?",
    },
    (it) => {
      const place =
        it.variable === undefined
          ? `in ${commandWords(it.setting, it.option)}`
          : `as ${it.variable} in ${settingWords(it.setting)}`;
      const meant = it.similar === undefined ? "" : `the container has ${it.similar}: did you mean that? If not: `;
      const python = it.interpreter ?? "its Python";
      if (it.environment !== undefined) {
        return `${meant}${python}, which the job ships, does not have it: install it into ${it.environment} (without -e), or name another Python ${place}`;
      }
      return `${meant}${python} on that node does not have it: name another Python ${place}, or ship one with --python_venv`;
    },
  ),
  "find-module": reason(
    { module: "text", found: "text" },
    ({ module, found }) =>
      `the container has ${found}, where Python does not look for ${module}: add its folder to PYTHONPATH`,
  ),
  "open-port-once": reason(
    { role: "text" },
    ({ role }) =>
      `if this keeps happening, several processes of one task open the same port: name one for each in tony.${role}.ports`,
  ),
  "open-given-port": reason(
    { role: "text" },
    ({ role }) =>
      "if that port is why it ended: another process on that node has it, or the program opens it twice; let it open TONY_PORT, " +
      `which is kept free for it, or name ports in tony.${role}.ports`,
  ),
  "show-crash": reason(
    { variable: "text", setting: "setting" },
    ({ variable, setting }) =>
      `if it is a Python program, add ${variable}=1 to ${settingWords(setting)}: it then prints its stack when it crashes`,
  ),
  "end-together": reason(
    {},
    () =>
      "if the others lost their connection to it, give every task the same number of steps, or let none end before all are done (a barrier)",
  ),
  "raise-progress-timeout": reason(
    { setting: "setting", stacks: "flag" },
    ({ setting, stacks }) =>
      `${stacks ? "its stacks below show what it waits for; " : ""}if a step may take longer, raise ${settingWords(setting)}`,
  ),
  "pack-copies": reason(
    {},
    () =>
      "pack the file itself, not a link into somebody's home: make a virtual environment with python3 -m venv --copies or " +
      "conda-pack, from a Python that everybody may read",
  ),
  "raise-am-memory": reason({ virtual: "flag" }, ({ virtual }) => `raise tony.am.memory${orSite(virtual)}`),
  "check-am-node": reason(
    {},
    () => "its node may be overloaded or cut off from the ResourceManager; tony-ts logs has the AM's log",
  ),
  "check-am-files": reason({}, () => "the node could not localize the AM's files"),
  "outlive-tokens": reason(
    {},
    () =>
      "the delegation tokens from the submission have expired: for a longer job, ship its keytab " +
      `(tony.kerberos.ship-keytab=true), or follow it with a client that logs in with one (tony.kerberos.keytab); ${SITE_TOKENS}`,
  ),
  "outlive-am-tokens": reason(
    {},
    () =>
      `the delegation tokens from the submission have expired, and YARN starts new AMs with the same ones: ${SITE_TOKENS}`,
  ),
  "lower-ask": reason({ settings: "settings", orWait: "flag" }, ({ settings, orWait }) => {
    const wait = "wait for other jobs to end";
    const keys = settings.map(settingWords).join(" or ");
    return settings.length === 0 ? wait : `lower ${keys}${orWait ? `, or ${wait}` : ""}`;
  }),
  "set-label": reason(
    { setting: "setting" },
    ({ setting }) => `set ${settingWords(setting)} to a label that nodes have`,
  ),
  "mend-hdfs": reason(
    {},
    () => "programs keep running; the next generation starts when HDFS accepts the journal again",
  ),
  "keep-file": reason({}, () => "check that the file exists, is readable, and does not change while jobs use it"),
};

export type Remedy = ReasonOf<typeof remedies>;

export function remedyWords(remedy: Remedy): string {
  return remedies[remedy.code].words(remedy);
}

/** Whether the value was given by its own option on the command line. */
function isOption({ at }: Setting): boolean {
  return at === "-executes";
}

/** Where a role's command is set: a key with its place, or an option. */
function commandWords(setting: Setting, option = "--executes"): string {
  return isOption(setting) ? option : settingWords(setting);
}

function orSite(virtual: boolean): string {
  return virtual ? ", or have the site raise yarn.nodemanager.vmem-pmem-ratio" : "";
}

function checkNameIn(setting: Setting): string {
  return `check its name in ${commandWords(setting)}`;
}
