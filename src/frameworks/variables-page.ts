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

Made from \`src/frameworks/variables.ts\` by \`npm run docs\`; edit it there.

## What a program sees

Its environment is, each over the one before: the container's, with \`tony.containers.envs\` and \`--container_env\`;
\`tony.application.secrets\` and \`--secret\`; what only some roles get; \`tony.execution.envs\`, \`--shell_env\` and \`tony.<role>.envs\`; what every program gets and its framework's, which no setting of a job
replaces unless it is said there. In \`tony.application.distributed-mode = fcfs\` a program starts before the others are there, so those of its framework are not
set. \`MALLOC_ARENA_MAX\`, which NodeManagers set for JVMs, is taken away.
`;

const TEMPLATES = `### Any other program

With \`tony.application.framework = generic\` there are no variables beyond those of every program; what a program must know is written where
its command, \`tony.execution.envs\` or \`tony.<role>.envs\` have one of these:

| template | |
| --- | --- |
| \`{{role}}\`, \`{{index}}\` | The task's role, and its number within it, from 0 |
| \`{{count}}\` | How many tasks its role has |
| \`{{host}}\`, \`{{port}}\` | Where it may listen |
| \`{{spec.worker}}\` | \`host:port\` of each task of role \`worker\`, separated by commas; so of any role |
| \`{{port.rpc}}\`, \`{{spec.worker.rpc}}\` | The same of the port \`rpc\` in \`tony.<role>.ports\` |
| \`{{spec.json}}\` | All roles: \`{"worker": ["host:port", …], "worker.rpc": […]}\`; between single quotes in a command |
| \`\\{{index}}\` | \`{{index}}\` itself: what stands behind \`\\\` is no template |
`;

const HOSTS = `The first folder on the launcher's \`PATH\` has a command \`ssh\`, which runs a command in the container of the host that it names, by way of
the ApplicationMaster: in the working directory and environment of that task's program. \`mpirun\` of Open MPI takes it for the one it knows; no
daemon, key or password is needed. What the host's own program does meanwhile is up to the job: \`sleep infinity\`. A process that fails
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
    section("MPI: what is started in a host", mpiHostVariables),
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
