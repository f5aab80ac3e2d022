/**
 * Every environment variable, by name, with what it says: docs/variables.md is made from these tables. What programs get is typed by them,
 * so that a variable without a row does not compile; nothing but types is imported from here into the programs.
 */
export type VariableTable = Readonly<Record<string, string>>;

/** What every task's program is told. */
export const programVariables = {
  JOB_NAME: "The task's role: `worker`, `ps`, …",
  TASK_INDEX: "The task's number within its role, from 0",
  TASK_NUM: "How many tasks the job has whose end counts; sidecars and untracked roles are not among them",
  IS_CHIEF: "`true` for the chief, in a job without one for `worker:0`; not set for others",
  JOB_ID: "The application's id, `application_1795305600000_0001` or `local_…`",
  appid: "The same, by TonY's older name",
  DISTRIBUTED_MODE: "`GANG` or `FCFS`, as `tony.application.distributed-mode`",
  SESSION_ID: "How many times the job's tasks were started again, from 0",
  NUM_AM_RETRIES: "The same; not set before the first restart",
  ATTEMPT_NUMBER: "How many ApplicationMasters ended before this one, from 0",
  AM_HOST: "Host of the ApplicationMaster",
  AM_PORT: "Its port. It speaks with executors, not with programs",
  TB_PORT: "A free port for TensorBoard or another page, in the one task that may serve it",
  TONY_GENERATION: "Which life of the job's tasks this is, from 1 (`SESSION_ID` + 1)",
  TONY_RESTART_REASON: "Why the life before this one ended; not set in the first",
  TONY_CHECKPOINT_DIR: "Where checkpoints go: `tony.application.checkpoint-dir`; not set without it",
  TONY_CHECKPOINT_LOCAL_DIR:
    "The folder of the container whose reported checkpoints are brought to that place: `tony.checkpoint.local-dir`; not set without it",
  TONY_CHECKPOINT:
    "The complete checkpoint with the highest step, as the program that saved it reported it, or where it was copied back to; not set in the first generation, or when there is none",
  TONY_OUTPUT_LOCAL_DIR:
    "The folder of the container whose content is copied to where results are kept when the program has ended: `tony.output.local-dir`; not set without it",
  TONY_OUTPUT_DIR: "Where that content of this task stays, below `tony.output.dir`; not set without it",
  TONY_PROGRESS_FILE: "The file that the program may write its [progress](progress.md) to",
  TONY_NOTICE_FILE:
    "The file in which the program finds, when it gets `tony.task.preemption-signal`, why its container is to be taken back and [until when](progress.md#notices)",
  PYTHONFAULTHANDLER:
    "`1` in a job with `tony.task.progress-timeout`: a Python that hangs can then be asked where it stands",
} as const satisfies VariableTable;

/** With `tony.application.framework = pytorch`, in the tasks that train. */
export const pytorchVariables = {
  RANK: "The task's number among all that train, from 0: the chief, then the workers, then other tracked roles",
  WORLD_SIZE: "How many tasks train",
  WORLD: "The same, by TonY's name",
  MASTER_ADDR: "Host of the task with rank 0",
  MASTER_PORT: 'A port that is kept free there: `init_process_group(init_method="env://")` needs no more',
  INIT_METHOD: "`tcp://MASTER_ADDR:MASTER_PORT`, by TonY's name",
  LOCAL_RANK:
    "The task's number among those of its machine, from 0. A container with GPUs counts as a machine, because it sees only its own",
  LOCAL_WORLD_SIZE: "How many tasks train on this machine",
  GROUP_RANK: "The machine's number, from 0",
} as const satisfies VariableTable;

/** With `tony.application.framework = tensorflow`. */
export const tensorflowVariables = {
  TF_CONFIG:
    'As `tf.distribute` reads it: `{"task": {"type": "worker", "index": 0}, "cluster": {"worker": ["host:port", …], "ps": […]}}`, without sidecars',
  CLUSTER_SPEC: 'All roles, as TonY gives it: `{"worker": ["host:port", …], "ps": […]}`',
} as const satisfies VariableTable;

/** What only some roles get. */
export const roleVariables = {
  CUDA_VISIBLE_DEVICES: "Empty for a role without GPUs in a job whose other roles have some",
  TB_LOG_DIR: "In the TensorBoard that the job has by `tony.application.tensorboard-log-dir`: that folder",
} as const satisfies VariableTable;

/** What a program finds from its container: YARN's own, set by the local scheduler too. */
export const containerVariables = {
  CONTAINER_ID: "The container's id",
  NM_HOST: "The node's name",
  LOG_DIRS: "Folders whose files become logs of the job, separated by commas",
  LOCAL_DIRS: "Folders of the application on this node, shared by its containers there, separated by commas",
  HADOOP_TOKEN_FILE_LOCATION: "File with the job's delegation tokens, for Hadoop's own clients",
  TONY_PROGRAM_OF:
    "The container's id once more. It marks the processes of a program, which are ended with it: leave it as it is",
} as const satisfies VariableTable;

/** What `tony-ts` reads where it is typed. */
export const clientVariables = {
  HADOOP_CONF_DIR: "Folder with the cluster's `core-site.xml`, `hdfs-site.xml` and `yarn-site.xml`",
  YARN_CONF_DIR: "The same, where `HADOOP_CONF_DIR` is not set",
  HADOOP_HOME: "Where neither is set: `$HADOOP_HOME/etc/hadoop`, and after it `/etc/hadoop/conf`",
  TONY_CONF_DIR: "Folder with the site's `tony-site.xml`; default `/export/apps/tony/conf`, as in TonY",
  HADOOP_USER_NAME: "Who submits, on a cluster that believes names; default: the login name",
  HADOOP_PROXY_USER: "For whom that user submits, where the cluster lets it",
  HOME: "Where the next two begin: `~`",
  XDG_STATE_HOME:
    "Jobs of `--scheduler local` and their logs are in `$XDG_STATE_HOME/tony-ts`; default `~/.local/state`",
  XDG_CACHE_HOME:
    "`$XDG_CACHE_HOME/tony-ts` remembers the hashes of large files, and keeps what was compiled of the programs; default `~/.cache`",
  SHELL: "The shell that `tony-ts completion` writes for when none is named",
  CUDA_VISIBLE_DEVICES: "Which GPUs of this machine `--scheduler local` may give to tasks; default all",
  NO_COLOR: "When set and not empty: no colours",
  TERM: "`dumb`: no colours, and no line is drawn again",
} as const satisfies VariableTable;

/** What the job itself says by a variable of its programs or containers. */
export const jobVariables = {
  TF_GRPC_REUSE_PORT: "`true`: as `tony.task.reuse-port`",
} as const satisfies VariableTable;

/** What `npm run …` reads in a checkout. */
export const checkoutVariables = {
  JAVA_HOME: "The Java that runs Hadoop, before those found elsewhere",
  TONY_CLUSTER_DIR: "Where `npm run cluster` keeps its clusters; default `.cluster` in the checkout",
  TONY_TEST_CLUSTER: "Name of the cluster that the tests use; default `test`",
} as const satisfies VariableTable;
