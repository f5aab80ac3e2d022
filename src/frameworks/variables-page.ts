import {
  checkoutVariables,
  clientVariables,
  containerVariables,
  daskVariables,
  deepspeedVariables,
  elasticHorovodVariables,
  elasticTorchrunVariables,
  horovodVariables,
  jaxVariables,
  jobVariables,
  mpiHostVariables,
  mpiVariables,
  mxnetVariables,
  programVariables,
  pytorchVariables,
  rayVariables,
  roleVariables,
  tensorflowVariables,
  torchrunVariables,
  trialVariables,
  type VariableTable,
} from "./variables.ts";

const HEAD = `# Environment variables

\`npm run docs\` generates this page from \`src/frameworks/variables.ts\`; edit it there.

## What a program sees

Its environment is made of these, each overriding the one before: the container's, with \`tony.containers.envs\` and \`--container_env\`;
\`tony.application.secrets\` and \`--secret\`; the variables that only some roles get; \`tony.execution.envs\`, \`--shell_env\` and \`tony.<role>.envs\`; the variables that every program gets and those of its framework, which a job's settings
cannot replace unless the variable's row says so. With \`tony.application.distributed-mode = fcfs\` a program starts before the others are there, so the framework's variables are not
set. \`MALLOC_ARENA_MAX\`, which NodeManagers set for JVMs, is removed.
`;

const TEMPLATES = `### Any other program

With \`tony.application.framework = generic\` there are no variables beyond those of every program; instead, these templates are replaced in
its command, \`tony.execution.envs\` and \`tony.<role>.envs\`:

| template | |
| --- | --- |
| \`{{role}}\`, \`{{index}}\` | The task's role, and its number within it, from 0 |
| \`{{count}}\` | How many tasks its role has |
| \`{{host}}\`, \`{{port}}\` | Where it may listen |
| \`{{spec.worker}}\` | \`host:port\` of each task of role \`worker\`, separated by commas; the same for any role |
| \`{{port.rpc}}\`, \`{{spec.worker.rpc}}\` | The same for the port \`rpc\` in \`tony.<role>.ports\` |
| \`{{spec.json}}\` | All roles: \`{"worker": ["host:port", …], "worker.rpc": […]}\`; put it between single quotes in a command |
| \`\\{{index}}\` | \`{{index}}\` itself: after \`\\\` it is not a template |
`;

const HOSTS = `The first folder on the launcher's \`PATH\` has a command \`ssh\`, which runs a command in the container of the host that it names, through
the ApplicationMaster: in the working directory and environment of that task's program. Open MPI's \`mpirun\` uses it like the real one; no
daemon, key or password is needed. The job decides what the host's own program does in the meantime: \`sleep infinity\`. A process that fails
fails the launcher: \`mpirun\` stops the others and says which one it was.
`;

const READ = `## What tony-ts reads

A job's file may refer to any variable of the shell that submits it, as \`\${env.NAME}\`.
`;

/** docs/reference/variables.md, from the tables. */
export function variablesPage(): string {
  return [
    HEAD,
    section("Every program", programVariables),
    section("PyTorch: tasks that train", pytorchVariables),
    section("DeepSpeed: tasks that train, beside PyTorch's", deepspeedVariables),
    section("TensorFlow", tensorflowVariables),
    section("torchrun: tasks that train", torchrunVariables),
    section("torchrun: tasks that train, of which some may be missing", elasticTorchrunVariables),
    section("JAX: tasks that train", jaxVariables),
    section("MXNet", mxnetVariables),
    section("Horovod: tasks that train", horovodVariables),
    section("Horovod: tasks that train, of which some may be missing", elasticHorovodVariables),
    section("MPI: the launcher", mpiVariables),
    HOSTS,
    section("MPI: processes that the launcher starts in a host", mpiHostVariables),
    section("Dask", daskVariables),
    section("Ray: all but the head", rayVariables),
    TEMPLATES,
    section("Some roles", roleVariables),
    section("Trials of a search", trialVariables),
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
