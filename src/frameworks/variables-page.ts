import {
  checkoutVariables,
  clientVariables,
  containerVariables,
  jobVariables,
  programVariables,
  pytorchVariables,
  roleVariables,
  tensorflowVariables,
  type VariableTable,
} from "./variables.ts";

const HEAD = `# Environment variables

Made from \`src/frameworks/variables.ts\` by \`npm run docs\`; edit it there.

## What a program sees

Its environment is, each over the one before: the container's, with \`tony.containers.envs\` and \`--container_env\`; what only some roles
get; \`tony.execution.envs\`, \`--shell_env\` and \`tony.<role>.envs\`; what every program gets and its framework's, which no setting of a job
replaces. In \`tony.application.distributed-mode = fcfs\` a program starts before the others are there, so those of its framework are not
set. \`MALLOC_ARENA_MAX\`, which NodeManagers set for JVMs, is taken away.
`;

const READ = `## What tony-ts reads

A job's file may refer to any variable of the shell that submits it, as \`\${env.NAME}\`.
`;

/** docs/variables.md, from the tables. */
export function variablesPage(): string {
  return [
    HEAD,
    section("Every program", programVariables),
    section("PyTorch: tasks that train", pytorchVariables),
    section("TensorFlow", tensorflowVariables),
    section("Some roles", roleVariables),
    section("From the container", containerVariables),
    READ,
    section("On the machine where it is typed", clientVariables),
    section("In a job, as `NAME=value` of `tony.execution.envs`", jobVariables),
    section("In a checkout", checkoutVariables),
  ].join("\n");
}

function section(title: string, table: VariableTable): string {
  const rows = Object.entries(table).map(([name, doc]) => `| \`${name}\` | ${doc.replaceAll("|", "\\|")} |`);
  return [`### ${title}`, "", "| variable | |", "| --- | --- |", ...rows, ""].join("\n");
}
