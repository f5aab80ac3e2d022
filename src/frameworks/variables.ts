/**
 * Every environment variable, by name, with its meaning: docs/reference/variables.md is made from these tables. They type what programs get, so that
 * a variable without a row does not compile; programs in containers import nothing but types from here.
 */
export type VariableTable = Readonly<Record<string, string>>;

/** What every task's program gets. */
export const programVariables = {
  JOB_NAME: "The task's role: `worker`, `ps`, …",
  TASK_INDEX: "The task's number within its role, from 0",
  TASK_NUM: "How many tasks the job waits for: all except those of sidecars and untracked roles",
  IS_CHIEF: "`true` for the chief, or for `worker:0` in a job without one; not set for others",
  JOB_ID: "The application's id, `application_1795305600000_0001` or `local_…`",
  appid: "The same, by TonY's older name",
  DISTRIBUTED_MODE: "`GANG` or `FCFS`, as `tony.application.distributed-mode`",
  SESSION_ID:
    "How many times the task's program was started again, with its gang or alone, from 0; a stage's first start is 0",
  NUM_AM_RETRIES: "The same; not set before the first restart",
  ATTEMPT_NUMBER: "How many ApplicationMasters ended before this one, from 0",
  AM_HOST: "Host of the ApplicationMaster",
  AM_PORT: "Its port. It serves executors, not programs",
  MODEL_PARAMS:
    "With `tony.application.enable-preprocess`: what the preprocessing program printed in its line `Model parameters: …`",
  TONY_HOST: "The node's name, by which the other tasks find this one",
  TONY_PORT:
    "The port that the cluster spec names for this task; no other process can take it before the program starts",
  TB_PORT:
    "A free port for TensorBoard or another page, in the one task that may serve it; while something listens there, the application's link in YARN leads to it",
  TONY_GENERATION:
    "The generation's number: from 1, different from all earlier ones, and the same for all tasks that start together. The trials of a search share one count: check `TONY_CHECKPOINT` or `TONY_RESTART_REASON` there instead",
  TONY_RESTART_REASON: "Why the previous generation ended; not set in the first",
  TONY_CHECKPOINT_DIR: "Where checkpoints go: `tony.application.checkpoint-dir`; not set without it",
  TONY_CHECKPOINT_LOCAL_DIR:
    "The folder of the container whose reported checkpoints are copied to `TONY_CHECKPOINT_DIR`: `tony.checkpoint.local-dir`; not set without it",
  TONY_CHECKPOINT:
    "The complete checkpoint with the highest step: its path as the program reported it, or where it was copied back to; in the first generation the checkpoint of the job that this one resumes from (`--resume-from`); not set if there is none",
  TONY_OUTPUT_LOCAL_DIR:
    "The folder of the container whose content is stored as results when the program has ended: `tony.output.local-dir`; not set without it",
  TONY_OUTPUT_DIR: "Where this task's results are stored, below `tony.output.dir`; not set without it",
  TONY_PROGRESS_FILE: "The file that the program may write its [progress](../guide/checkpoints.md) to",
  TONY_NOTICE_FILE:
    "The file in which the program finds, when it gets `tony.task.preemption-signal`, why its container is to be taken back and [until when](../guide/checkpoints.md#notices)",
  TONY_API:
    "The unix socket at which the program may [ask for its task and report](../guide/task-api.md), over HTTP; not set if the node does not support one",
  PYTHONUNBUFFERED:
    "`1` unless the job sets it: a Python program's output appears at once. Set it to `0` to let Python buffer its output",
  PYTHONFAULTHANDLER:
    "`1` in a job with `tony.task.progress-timeout`: a hanging Python can then be made to print its stacks",
} as const satisfies VariableTable;

/** With `tony.application.framework = pytorch`, in the tasks that train. */
export const pytorchVariables = {
  RANK: "The process's number among all that train, from 0: first the chief's, then the workers', then those of other tracked roles",
  WORLD_SIZE: "How many processes train: each task has one, or `tony.<role>.processes`",
  WORLD: "The same, by TonY's name",
  MASTER_ADDR: "Host of the task with rank 0",
  MASTER_PORT: 'A port that is kept free there: `init_process_group(init_method="env://")` needs no more',
  INIT_METHOD: "`tcp://MASTER_ADDR:MASTER_PORT`, by TonY's name",
  LOCAL_RANK:
    "The process's number among those of its machine, from 0. A container with GPUs counts as a machine, because it sees only its own",
  LOCAL_WORLD_SIZE: "How many processes train on this machine",
  GROUP_RANK: "The machine's number, from 0",
} as const satisfies VariableTable;

/** With `tony.application.framework = deepspeed`, in the tasks that train, in addition to PyTorch's. */
export const deepspeedVariables = {
  LOCAL_SIZE: "`LOCAL_WORLD_SIZE`, by the name that DeepSpeed's launcher uses",
  CROSS_RANK: "`GROUP_RANK`, likewise",
  CROSS_SIZE: "How many machines there are",
} as const satisfies VariableTable;

/** With `tony.application.framework = tensorflow`. */
export const tensorflowVariables = {
  TF_CONFIG:
    'As `tf.distribute` reads it: `{"task": {"type": "worker", "index": 0}, "cluster": {"worker": ["host:port", …], "ps": […]}}`, without sidecars',
  CLUSTER_SPEC: 'All roles, as TonY gives it: `{"worker": ["host:port", …], "ps": […]}`',
} as const satisfies VariableTable;

/** With `tony.application.framework = torchrun`, in the tasks that train: the options of `torchrun`. */
export const torchrunVariables = {
  PET_NNODES: "How many tasks train; with `tony.<role>.min-instances` the minimum and maximum, as `2:4`",
  PET_NPROC_PER_NODE: "How many processes `torchrun` starts in this container: `tony.<role>.processes`",
  PET_NODE_RANK: "The task's number among them, from 0; not with `min-instances`",
  PET_RDZV_BACKEND: "`c10d`",
  PET_RDZV_ENDPOINT: "`host:port` of the first of them: a port that is kept free there",
  PET_RDZV_ID: "The generation; the same for all of its tasks, including those that join it later",
  PET_RDZV_CONF: "`is_host=true` in the first of them; with `min-instances` also how long to wait for others",
  PET_LOCAL_ADDR: "The node's name",
} as const satisfies VariableTable;

/** The same, where fewer of them may train (`tony.<role>.min-instances`); what the job sets itself stays. */
export const elasticTorchrunVariables = {
  PET_MAX_RESTARTS:
    "How often `torchrun` starts its processes again: `tony.am.retry-count` (or the role's `retry-count`) and `tony.failure.infrastructure-retries` together, because each lost task costs the others one",
  TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "`1`: the processes' store is created again whenever tasks join or are lost",
} as const satisfies VariableTable;

/** With `tony.application.framework = jax`, in the tasks that train. */
export const jaxVariables = {
  JAX_COORDINATOR_ADDRESS:
    "`host:port` of process 0: a port that is kept free there. `jax.distributed.initialize` reads it",
  JAX_PROCESS_ID: "The process's number among all that train, from 0; the program passes it as `process_id`",
  JAX_NUM_PROCESSES: "How many processes train; the program passes it as `num_processes`",
} as const satisfies VariableTable;

/** With `tony.application.framework = mxnet`. */
export const mxnetVariables = {
  DMLC_ROLE: "The task's role: `scheduler`, `server` or `worker`",
  DMLC_PS_ROOT_URI: "The IP address of the scheduler's host",
  DMLC_PS_ROOT_PORT: "The scheduler's port",
  DMLC_LOCAL: "`0`",
  DMLC_NUM_SERVER: "How many tasks role `server` has",
  DMLC_NUM_WORKER: "How many tasks role `worker` has",
} as const satisfies VariableTable;

/** With `tony.application.framework = horovod`, in the tasks that train. */
export const horovodVariables = {
  HOROVOD_CONTROLLER: "`gloo`",
  HOROVOD_CPU_OPERATIONS: "`gloo`",
  HOROVOD_GLOO_TIMEOUT_SECONDS: "`2000`, with `tony.<role>.min-instances` `60`; unless the job sets it",
  HOROVOD_GLOO_RENDEZVOUS_ADDR: "Where the processes find each other: the executor of rank 0 serves it",
  HOROVOD_GLOO_RENDEZVOUS_PORT: "Its port",
  HOROVOD_HOSTNAME:
    "The machine's name, by which local ranks are counted; with `min-instances` each task counts as a machine",
  HOROVOD_RANK: "The process's number among all that train, from 0",
  HOROVOD_SIZE: "How many processes train",
  HOROVOD_LOCAL_RANK: "The process's number among those of its machine",
  HOROVOD_LOCAL_SIZE: "How many processes train on this machine",
  HOROVOD_CROSS_RANK: "The machine's number among those that have a process of this local rank",
  HOROVOD_CROSS_SIZE: "How many machines have one",
  CLUSTER_SPEC: "All roles, as TonY gives it",
} as const satisfies VariableTable;

/** The same, where fewer of them may train (`tony.<role>.min-instances`). */
export const elasticHorovodVariables = {
  HOROVOD_ELASTIC:
    "`1`: whenever tasks join or are lost, the process asks again for its rank and everything that follows from it",
} as const satisfies VariableTable;

/** With `tony.application.framework = mpi`, in the launcher. */
export const mpiVariables = {
  TONY_HOSTFILE:
    "The list of hosts, `worker-0 slots=2` a line. Each task except the launcher is a host; `tony.<role>.processes` says how many slots it has",
  OMPI_MCA_orte_default_hostfile: "The same, where `mpirun` of Open MPI 4 looks for it",
  OMPI_MCA_plm_rsh_no_tree_spawn: "`1`: only the launcher starts daemons",
  PRTE_MCA_prte_default_hostfile: "The same list, where `mpirun` of Open MPI 5 looks for it",
  PRTE_MCA_plm_ssh_no_tree_spawn: "`1`: only the launcher starts daemons",
  SHELL: "`/bin/bash`: `mpirun` prints a warning if it cannot determine the shell",
} as const satisfies VariableTable;

/** With `tony.application.framework = mpi`, in what the launcher starts in a host: its task's working directory. */
export const mpiHostVariables = {
  HOME: "Where `mpirun` starts programs whose own directory does not exist on the host",
  OMPI_MCA_btl_sm_backing_directory:
    "Where Open MPI 5 keeps the memory that processes of a container share; in `/dev/shm`, two containers of one node would use each other's",
  OMPI_MCA_btl_vader_backing_directory: "The same for Open MPI 4",
} as const satisfies VariableTable;

/** With `tony.application.framework = dask`. */
export const daskVariables = {
  DASK_SCHEDULER_ADDRESS: "`tcp://host:port` of task `scheduler:0`: `dask worker` and `distributed.Client()` read it",
} as const satisfies VariableTable;

/** With `tony.application.framework = ray`, in all tasks but the head. */
export const rayVariables = {
  RAY_ADDRESS: "`host:port` of task `head:0`: `ray start` and `ray.init()` read it",
} as const satisfies VariableTable;

/** In a trial of a [search](../guide/search.md). */
export const trialVariables = {
  TONY_TRIAL_NUMBER: "The trial's number, from 0",
  TONY_TRIAL_PARAMS: 'Its parameters: `{"lr": 0.0031, "optimizer": "adam"}`',
  "TONY_PARAM_<NAME>": "One of them: `lr` is `TONY_PARAM_LR`",
} as const satisfies VariableTable;

/** What only some roles get. */
export const roleVariables = {
  "TONY_PORT_<NAME>":
    "A further port for each name in `tony.<role>.ports`, held as `TONY_PORT` is: `web-ui` is `TONY_PORT_WEB_UI`",
  TONY_PORTS:
    'Those ports of all tasks, if roles of the job have any: `{"worker.rpc": ["host:port", …], "worker.web-ui": […]}`',
  CUDA_VISIBLE_DEVICES: "Empty for a role without GPUs in a job whose other roles have some",
  ROCR_VISIBLE_DEVICES: "The same for AMD's devices",
  HIP_VISIBLE_DEVICES: "The same for AMD's devices",
  GLOO_SOCKET_IFNAME:
    "In a job on several nodes, unless the job sets it: the network interface by which the node reaches the others. Gloo would take that of the machine's own name, which on many machines resolves to loopback",
  NCCL_SOCKET_IFNAME: "The same for NCCL",
  HOROVOD_GLOO_IFACE: "The same for Horovod's Gloo",
  PREPROCESSING_JOB: "`true` in the ApplicationMaster's container: for `tony.am.command`",
  MLFLOW_RUN_ID:
    "With `tony.mlflow.share-run`, unless the job sets it: the job's run, if MLflow answered before the task's container started",
  MLFLOW_TRACKING_URI: "With that: `tony.mlflow.url`",
  TB_LOG_DIR: "In the TensorBoard of `tony.application.tensorboard-log-dir`: that folder",
} as const satisfies VariableTable;

/** What a program gets from its container: YARN's own variables, which the local scheduler sets too. */
export const containerVariables = {
  CONTAINER_ID: "The container's id",
  NM_HOST: "The node's name",
  LOG_DIRS: "Folders whose files become logs of the job, separated by commas",
  LOCAL_DIRS: "Folders of the application on this node, shared by its containers there, separated by commas",
  CLASSPATH:
    "For libhdfs: `tony.application.hadoop.classpath`, or the output of `hadoop classpath` if the node has a Hadoop client; not with `SKIP_HADOOP_PATH` in `tony.containers.envs`",
  LIBHDFS_OPTS:
    "With `CLASSPATH`, unless the job sets it: `-Xmx` with a quarter of the container's memory; otherwise the JVM would take a quarter of the node's",
  ARROW_LIBHDFS_DIR: "Where the node's Hadoop client has libhdfs.so",
  LD_LIBRARY_PATH: "With the folders of libhdfs.so and libjvm.so, if the node has a Hadoop client",
  PEX_ROOT:
    "In a job that ships a `.pex`, unless it sets it: a folder of the application on this node, in which the PEX unpacks itself once",
  HADOOP_USER_NAME:
    "The job's owner, unless the job sets it: on an open cluster Hadoop's own clients act as that user, although containers run as another",
  HADOOP_TOKEN_FILE_LOCATION: "File with the job's delegation tokens, for Hadoop's own clients",
  TONY_PROGRAM_OF:
    "The container's id once more. It marks the processes of a program, which are ended with it: do not change it",
} as const satisfies VariableTable;

/** What `tony-ts` reads where it is run. */
export const clientVariables = {
  HADOOP_CONF_DIR:
    "Folder with the cluster's `core-site.xml`, `hdfs-site.xml` and `yarn-site.xml`, or several separated by `:`; each file is taken from the first that has it",
  YARN_CONF_DIR: "The same; files that `HADOOP_CONF_DIR` does not have are taken from there",
  HADOOP_HOME: "If neither is set: `$HADOOP_HOME/etc/hadoop` or `$HADOOP_HOME/conf`, and after it `/etc/hadoop/conf`",
  HADOOP_PREFIX: "The next fallback, by Hadoop 2's name",
  HADOOP_COMMON_HOME: "The next fallback",
  HADOOP_YARN_HOME: "The next fallback",
  YARN_HOME: "The next fallback",
  TONY_CONF_DIR: "Folder with the site's `tony-site.xml`; default `/export/apps/tony/conf`, as in TonY",
  HADOOP_TOKEN_FILE_LOCATION: "On a secured cluster: delegation tokens to use, if a service has obtained them",
  KRB5CCNAME: "Where Kerberos looks for tickets; default `FILE:/tmp/krb5cc_UID`, unless `krb5.conf` names another",
  HADOOP_USER_NAME: "Who submits, on a cluster without authentication; default: the login name",
  HADOOP_PROXY_USER: "The user on whose behalf that user submits, if the cluster permits it",
  HOME: "`~` in the next two",
  XDG_STATE_HOME:
    "Jobs of `--scheduler local` and their logs are in `$XDG_STATE_HOME/tony-ts`; default `~/.local/state`",
  XDG_CACHE_HOME:
    "`$XDG_CACHE_HOME/tony-ts` stores the hashes of large files, and the compiled code of the programs; default `~/.cache`",
  SHELL: "The shell that `tony-ts completion` writes for when none is named",
  CUDA_VISIBLE_DEVICES: "Which GPUs of this machine `--scheduler local` may give to tasks; default all",
  JOB_PROP_FILE: "The file of a job's properties, which Azkaban sets for `tony-ts azkaban`",
  JOB_OUTPUT_PROP_FILE: "The file to which `tony-ts azkaban` writes the properties for the next jobs of the flow",
  JUPYTER_TOKEN: "The token of `tony-ts notebook`; default a new one, which the terminal shows",
  NO_COLOR: "When set and not empty: no colours",
  TERM: "`dumb`: no colours, and no line is drawn again",
} as const satisfies VariableTable;

/** Variables that the job itself may set for its programs or containers. */
export const jobVariables = {
  TF_GRPC_REUSE_PORT: "`true`: as `tony.task.reuse-port`",
} as const satisfies VariableTable;

/** What `npm run …` reads in a checkout. */
export const checkoutVariables = {
  JAVA_HOME: "The Java that runs Hadoop, before those found elsewhere",
  TONY_CLUSTER_DIR: "Where `npm run cluster` keeps its clusters; default `.cluster` in the checkout",
  TONY_TEST_CLUSTER: "Name of the cluster that the tests use; default `test`",
} as const satisfies VariableTable;
