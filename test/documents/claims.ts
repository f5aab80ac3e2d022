/**
 * Who runs a shown command line: `commands.test.ts`, in bash, or another test or phase.
 * - `job`: on the suite's cluster, as alice, in a fresh folder with the job that `tony-ts init hello` writes
 * - `empty`: the same in an empty folder
 * - `checkout`: in the checkout, with a folder for clusters of its own
 * - `another-row`: what that one types has all of this one
 */
export type Claim =
  | { readonly where: "job" | "empty" | "checkout"; readonly typed: readonly string[] }
  | { readonly where: "another-row"; readonly line: string }
  | {
      readonly where: "elsewhere";
      /** The file that runs it, and what to look for there. */
      readonly file: string;
      readonly text: string;
    };

/** Where the shown line names a placeholder, the lines to type instead: `$ID` is a job that ended, `$RUNNING` one that runs. */
const inJob = (...typed: string[]): Claim => ({ where: "job", typed });
const inEmpty = (...typed: string[]): Claim => ({ where: "empty", typed });
const inCheckout = (...typed: string[]): Claim => ({ where: "checkout", typed });
const withRow = (line: string): Claim => ({ where: "another-row", line });
const elsewhere = (file: string, text: string): Claim => ({ where: "elsewhere", file, text });
/** In the container of a task that runs. */
const inContainer = (verb: string): Claim => elsewhere("test/e2e/sessions.test.ts", `"${verb}", id`);
const forwarded = (verb: string): Claim => elsewhere("test/e2e/forward.test.ts", `"${verb}", id`);
const notebookWith = (text: string): Claim => elsewhere("test/e2e/environments/notebook.test.ts", text);
const phase = (name: string): Claim => elsewhere("scripts/test/phases.mjs", `name: "${name}"`);
const preparation = (name: string): Claim => elsewhere("scripts/test/preparations.mjs", `name: "${name}"`);
/** A phase with a cluster that is started with such options. */
const ofItsOwn = (name: string): Claim => elsewhere("scripts/test/phases.mjs", `("${name}", {`);

/**
 * Every command line that README, docs and the helps show. Those that are run here are run in this order; without a line of its own a
 * claim types what is shown. A new command line needs a row.
 */
export const claims: Readonly<Record<string, Claim>> = {
  "tony-ts --help": inEmpty(),
  "tony-ts doctor": inEmpty(),
  "tony-ts doctor --queue ml": inEmpty(),
  "tony-ts submit job.xml": inJob(),
  "tony-ts submit": withRow("tony-ts submit job.xml"),
  "tony-ts submit job.xml --scheduler local": inJob(),
  "tony-ts submit --scheduler local job.xml": withRow("tony-ts submit job.xml --scheduler local"),
  "tony-ts submit job.xml -conf tony.worker.instances=4": inJob(),
  "tony-ts submit --detach --name try-2 job.xml": inJob(),
  "tony-ts submit job.xml --queue ml --priority 5 --env EPOCHS=3": inJob(),
  ...Object.fromEntries(
    [
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/task',
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/cluster',
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/report --data \'{"step": 1800, "metrics": {"loss": 0.402}}\'',
      'curl --silent --unix-socket "$TONY_API" "http://tony/v1/ends?timeout=86400"',
    ].map((line) => [line, elsewhere("test/e2e/task-api.test.ts", "docs/guide/task-api.md")]),
  ),
  ...Object.fromEntries(
    [
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/kv/shared/rate --upload-file - <<< 0.01',
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/kv/shared/rate',
      'curl --silent --unix-socket "$TONY_API" "http://tony/v1/kv?prefix=shared/"',
      'curl --silent --unix-socket "$TONY_API" "http://tony/v1/kv/shared/leader?if-revision=0&owned=true" -X PUT --data-binary worker:0',
      'curl --silent --unix-socket "$TONY_API" http://tony/v1/kv/shared/rate -X DELETE',
      'curl --silent --no-buffer --max-time 2 --unix-socket "$TONY_API" "http://tony/v1/kv?watch=true&prefix=shared/&attempt=1&revision=0" || true',
      'curl --silent --unix-socket "$TONY_API" "http://tony/v1/barrier/data-is-there?timeout=600" -X POST',
    ].map((line) => [line, elsewhere("test/e2e/task-api.test.ts", "docs/guide/key-value-store.md")]),
  ),
  "tony-ts submit job.xml --resume-from application_1795305600000_0009": elsewhere(
    "test/e2e/resume.test.ts",
    `"--resume-from", id`,
  ),
  "tony-ts submit --resume-from ID": elsewhere("test/e2e/resume.test.ts", `"--resume-from", id`),
  "tony-ts submit --application-tag nightly job.xml": inJob(),
  "tony-ts submit --json --own --application-tag TAG job.xml": inJob(
    "tony-ts submit --json --own --application-tag test job.xml",
  ),
  "tony-ts submit --json": withRow("tony-ts submit --json --own --application-tag TAG job.xml"),
  "tony-ts azkaban": elsewhere("azkaban/jobtypes/tony-ts/plugin.properties", "azkaban"),
  "tony-ts attach ID": inEmpty("tony-ts attach $ID"),
  "tony-ts attach --own ID": inEmpty("tony-ts attach --own $ID"),
  "tony-ts attach --own application_1795305600000_0007": withRow("tony-ts attach --own ID"),
  "tony-ts attach application_1795305600000_0007": withRow("tony-ts attach ID"),
  "tony-ts wait ID": inEmpty("tony-ts wait $ID"),
  "tony-ts wait application_1795305600000_0007 && echo done": inEmpty("tony-ts wait $ID && echo done"),
  "tony-ts status": withRow("tony-ts status ID"),
  "tony-ts status --json": inEmpty("tony-ts status $ID --json"),
  "tony-ts status ID": inEmpty("tony-ts status $ID", "tony-ts status $RUNNING"),
  "tony-ts status application_1795305600000_0007": withRow("tony-ts status ID"),
  "tony-ts list": inEmpty(),
  "tony-ts list --state failed --name bert": inEmpty(),
  "tony-ts list --all-users --since 1d": inEmpty(),
  "tony-ts list --queue ml": inEmpty(),
  "tony-ts nodes": inEmpty(),
  "tony-ts nodes --label gpu": inEmpty(),
  "tony-ts logs ID [worker:0|am] [-f]": inEmpty(
    "tony-ts logs $ID",
    "tony-ts logs $ID worker:0",
    "tony-ts logs $ID am",
    "tony-ts logs $ID -f",
  ),
  "tony-ts logs application_1795305600000_0009 worker:1": inEmpty("tony-ts logs $ID worker:1"),
  "tony-ts logs application_1795305600000_0009 --tail 20 -f": inEmpty("tony-ts logs $ID --tail 20 -f"),
  "tony-ts logs ID": withRow("tony-ts logs ID [worker:0|am] [-f]"),
  "tony-ts logs ID am": withRow("tony-ts logs ID [worker:0|am] [-f]"),
  "tony-ts logs ID worker:1": inEmpty("tony-ts logs $ID worker:1"),
  "tony-ts logs ID worker:1 -f": inEmpty("tony-ts logs $ID worker:1 -f"),
  "tony-ts logs ID prepare:0": withRow("tony-ts logs ID [worker:0|am] [-f]"),
  "tony-ts logs application_1795305600000_0009 --grep 'nan|inf' --since 1h": inEmpty(
    "tony-ts logs $ID --grep 'nan|inf' --since 1h",
  ),
  "tony-ts logs application_1795305600000_0009 am": withRow("tony-ts logs ID [worker:0|am] [-f]"),
  "tony-ts logs application_1795305600000_0009 worker:1 --executor": inEmpty("tony-ts logs $ID worker:1 --executor"),
  "tony-ts kv ID get|put|del|list|transact": inEmpty(
    "tony-ts kv $RUNNING put shared/rate 0.1",
    "tony-ts kv $RUNNING get shared/rate",
    "tony-ts kv $RUNNING list",
    "tony-ts kv $RUNNING del shared/rate",
    "tony-ts kv $RUNNING transact {}",
  ),
  "tony-ts kv application_1795305600000_0007 put shared/learning-rate 0.01": inEmpty(
    "tony-ts kv $RUNNING put shared/learning-rate 0.01",
  ),
  "tony-ts kv application_1795305600000_0007 get shared/learning-rate": inEmpty(
    "tony-ts kv $RUNNING get shared/learning-rate",
  ),
  "tony-ts kv application_1795305600000_0007 list shared/": inEmpty("tony-ts kv $RUNNING list shared/"),
  'tony-ts kv application_1795305600000_0007 transact \'{"success": [{"type": "delete", "prefix": "shared/"}]}\'':
    inEmpty(`tony-ts kv $RUNNING transact '{"success": [{"type": "delete", "prefix": "shared/"}]}'`),
  "tony-ts kv application_1795305600000_0007 watch shared/": elsewhere(
    "test/faults/application-master.test.ts",
    `"watch", "shared/"`,
  ),
  "tony-ts kv application_1795305600000_0007 del shared/learning-rate": inEmpty(
    "tony-ts kv $RUNNING del shared/learning-rate",
  ),
  "tony-ts kill ID…": inEmpty("tony-ts kill $RUNNING"),
  "tony-ts kill application_1795305600000_0009 local_1795305600000_0001": inEmpty("tony-ts kill $RUNNING $ID"),
  "tony-ts exec ID worker:1 -- nvidia-smi": inContainer("exec"),
  "tony-ts exec application_1795305600000_0007 worker:1 -- nvidia-smi": inContainer("exec"),
  "tony-ts exec application_1795305600000_0007 worker:0 -- bash -c 'ps -ef | grep train'": inContainer("exec"),
  "tony-ts stacks ID [worker:1]": elsewhere("test/e2e/stacks.test.ts", `"stacks", id`),
  "tony-ts stacks ID": elsewhere("test/e2e/stacks.test.ts", `"stacks", id`),
  "tony-ts stacks application_1795305600000_0007": elsewhere("test/e2e/stacks.test.ts", `"stacks", id`),
  "tony-ts get ID": elsewhere("test/e2e/names.test.ts", `"get", id`),
  "tony-ts get ID worker:0 --to results": elsewhere("test/e2e/names.test.ts", `"get", id, "worker:0", "--to"`),
  "tony-ts get ID --checkpoint --to bert": elsewhere("test/e2e/names.test.ts", `"get", id, "--checkpoint", "--to"`),
  "tony-ts get application_1795305600000_0007": elsewhere("test/e2e/names.test.ts", `"get", id`),
  "tony-ts get application_1795305600000_0007 worker:0 --to results": elsewhere(
    "test/e2e/names.test.ts",
    `"worker:0", "--to"`,
  ),
  "tony-ts get application_1795305600000_0007 --checkpoint --to bert": elsewhere(
    "test/e2e/names.test.ts",
    `"--checkpoint", "--to"`,
  ),
  "tony-ts series ID": elsewhere("test/e2e/cli-local.test.ts", `"series", id`),
  "tony-ts series application_1795305600000_0007": elsewhere("test/e2e/cli-local.test.ts", `"series", id`),
  "tony-ts series application_1795305600000_0007 worker:0": elsewhere(
    "test/e2e/cli-local.test.ts",
    `"series", id, "worker:1"`,
  ),
  "tony-ts advise ID|NAME": elsewhere("test/e2e/cli-local.test.ts", `"advise", id`),
  "tony-ts advise ID": elsewhere("test/e2e/cli-local.test.ts", `"advise", id`),
  "tony-ts advise application_1795305600000_0007": elsewhere("test/e2e/cli-local.test.ts", `"advise", id`),
  "tony-ts advise bert-large": elsewhere("test/e2e/cli-local.test.ts", `"advise", "local"`),
  "tony-ts advise bert-large --apply job.xml": elsewhere("test/e2e/cli-local.test.ts", `"advise", id, "--apply"`),
  "tony-ts page ID": elsewhere("test/e2e/page.test.ts", `"page", id`),
  "tony-ts page application_1795305600000_0007 --address": elsewhere(
    "test/e2e/page.test.ts",
    `"page", id, "--address"`,
  ),
  "tony-ts page application_1795305600000_0007": elsewhere("test/e2e/page.test.ts", `"page", id`),
  ...Object.fromEntries(
    [
      "hdfs dfs -mkdir -p /shared/tony-history/intermediate /shared/tony-history/finished",
      "hdfs dfs -chown -R tony:tony /shared/tony-history",
      "hdfs dfs -chmod 755 /shared/tony-history /shared/tony-history/finished",
      "hdfs dfs -chmod 1777 /shared/tony-history/intermediate",
    ].map((line) => [line, elsewhere("test/e2e/portal.test.ts", "docs/operators.md")]),
  ),
  "tony-ts portal": elsewhere("test/e2e/portal.test.ts", `"portal", "--port"`),
  "tony-ts portal --maintain": elsewhere("test/e2e/portal.test.ts", `"--maintain"`),
  "tony-ts portal --dry-run": elsewhere("test/e2e/portal.test.ts", `"--dry-run"`),
  "tony-ts portal --listen 10.0.0.7 --proxy 10.0.0.5 --user-header X-Forwarded-User": elsewhere(
    "test/client/results/portal.test.ts",
    `"user-header": "X-Forwarded-User"`,
  ),
  "tony-ts portal --conf tony.history.location=hdfs:///shared/tony-history": elsewhere(
    "test/e2e/portal.test.ts",
    `"portal", "--port"`,
  ),
  "tony-ts shell ID worker:1": inContainer("shell"),
  "tony-ts shell application_1795305600000_0007 worker:1": inContainer("shell"),
  "tony-ts shell application_1795305600000_0007 worker:1 -- top": inContainer("shell"),
  "tony-ts forward ID worker:0 8080": forwarded("forward"),
  "tony-ts forward application_1795305600000_0007 worker:0 8080": forwarded("forward"),
  "tony-ts forward application_1795305600000_0007 worker:0 8080 --local-port 9000": elsewhere(
    "test/client/sessions/local-port.test.ts",
    "exactly: taken",
  ),
  "tony-ts tensorboard ID": forwarded("tensorboard"),
  "tony-ts tensorboard application_1795305600000_0007": forwarded("tensorboard"),
  "tony-ts notebook …": elsewhere("test/client/migration/command-lines.test.ts", "tony-ts notebook --src_dir"),
  "tony-ts notebook": notebookWith('"notebook", "--python_binary_path"'),
  "tony-ts notebook --python_venv venv.tar.gz --python_binary_path bin/python3": notebookWith("--python_binary_path"),
  "tony-ts notebook -conf tony.notebook.memory=16g -conf tony.notebook.gpus=1 --idle 4h": elsewhere(
    "test/client/commands/notebook.test.ts",
    '"--idle"',
  ),
  "tony-ts validate job.xml": inJob(),
  "tony-ts search job.xml": elsewhere("test/e2e/cli-local.test.ts", `"search", "--scheduler", "local", "job.xml"`),
  "tony-ts search --scheduler local job.xml": elsewhere(
    "test/e2e/cli-local.test.ts",
    `"search", "--scheduler", "local", "job.xml"`,
  ),
  "tony-ts search job.xml --resume ID": elsewhere("test/e2e/cli-local.test.ts", `"--resume", earlier`),
  "tony-ts search job.xml --resume application_1795305600000_0007": elsewhere(
    "test/e2e/cli-local.test.ts",
    `"--resume", earlier`,
  ),
  "tony-ts search job.xml --resume trials.jsonl": elsewhere("test/e2e/cli-local.test.ts", `"--resume", trialsFile`),
  "tony-ts --version": elsewhere("test/client/main.test.ts", `["--version"]`),
  "tony-ts search --detach job.xml": elsewhere("python/tests/cluster/test_jobs_of_a_cluster.py", "tony_ts.search("),
  "tony-ts search --dry-run job.xml": elsewhere(
    "test/client/commands/search.test.ts",
    `"search", "--dry-run", "job.xml"`,
  ),
  "tony-ts search --dry-run --after trials.jsonl --trials 1 --json job.xml": elsewhere(
    "test/client/commands/search.test.ts",
    `"--after", "trials.jsonl", "--trials", "1", "--json", "job.xml"`,
  ),
  ...Object.fromEntries(
    [
      "tony-ts logs ID trial:1",
      "tony-ts logs ID trial:17",
      "tony-ts logs ID trial:17/worker:1",
      "tony-ts logs application_1795305600000_0009 trial:17",
    ].map((line) => [line, elsewhere("test/e2e/cli-local.test.ts", `"logs", id, name`)]),
  ),
  ...Object.fromEntries(
    ["tony-ts get ID trial:1", "tony-ts get application_1795305600000_0007 trial:17 --checkpoint"].map((line) => [
      line,
      elsewhere("test/client/results/get-files.test.ts", `task: "trial:1"`),
    ]),
  ),
  "tony-ts trials ID": elsewhere("test/e2e/cli-local.test.ts", `"trials", id`),
  "tony-ts trials ID --json": elsewhere("python/tests/test_search_documents.py", "tony-ts trials {found} --json"),
  "tony-ts trials ID --csv": elsewhere("test/e2e/cli-local.test.ts", `"trials", id, "--csv"`),
  "tony-ts trials application_1795305600000_0007 --csv": elsewhere(
    "test/e2e/cli-local.test.ts",
    `"trials", id, "--csv"`,
  ),
  "tony-ts trials application_1795305600000_0007 --top 10": elsewhere(
    "test/e2e/cli-local.test.ts",
    `"trials", id, "--top"`,
  ),
  "tony-ts validate --conf job.xml": inJob(),
  "tony-ts validate --strict job.xml": inJob(),
  "tony-ts init": withRow("tony-ts init [KIND]"),
  "tony-ts init pytorch": withRow("tony-ts init [KIND]"),
  "tony-ts init tensorflow": withRow("tony-ts init [KIND]"),
  "tony-ts init jax": withRow("tony-ts init [KIND]"),
  "tony-ts init torchrun": withRow("tony-ts init [KIND]"),
  "tony-ts init ray": withRow("tony-ts init [KIND]"),
  "tony-ts init search": withRow("tony-ts init [KIND]"),
  "tony-ts init KIND": withRow("tony-ts init [KIND]"),
  "tony-ts init [KIND]": inEmpty(
    "tony-ts init",
    "tony-ts init pytorch",
    "tony-ts init tensorflow",
    "tony-ts init hello",
    "tony-ts init torchrun",
    "tony-ts init deepspeed",
    "tony-ts init horovod",
    "tony-ts init jax",
    "tony-ts init dask",
    "tony-ts init mpi",
    "tony-ts init ray",
    "tony-ts init generic",
    "tony-ts init search",
  ),
  "tony-ts migrate": withRow("tony-ts migrate job.xml"),
  "tony-ts migrate job.xml": inJob(),
  "tony-ts migrate job.xml|FOLDER": elsewhere("test/client/commands/migrate.test.ts", '"migrate"'),
  "tony-ts migrate app.yaml": elsewhere("test/client/commands/migrate.test.ts", '"app.yaml"'),
  "tony-ts migrate FOLDER": withRow("tony-ts migrate job.xml"),
  "tony-ts migrate flows": elsewhere("test/client/commands/migrate.test.ts", '"flows"'),
  "tony-ts keys": inEmpty(),
  "tony-ts keys memory": inEmpty(),
  "tony-ts keys --effective job.xml": inJob(),
  "tony-ts keys --effective --conf job.xml": inJob(),
  "tony-ts cache list": inEmpty(),
  "tony-ts cache list|prune": inEmpty("tony-ts cache list", "tony-ts cache prune --dry-run"),
  "tony-ts cache prune": withRow("tony-ts cache list|prune"),
  "tony-ts cache prune --dry-run": inEmpty(),
  "tony-ts completion": inEmpty(),
  "tony-ts completion bash": inEmpty("source <(tony-ts completion bash)"),
  "tony-ts completion zsh": inEmpty(),
  "export HADOOP_CONF_DIR=/etc/hadoop/conf": inEmpty("export HADOOP_CONF_DIR=$HADOOP_CONF_DIR"),
  "npm install -g --ignore-scripts tony-ts-0.1.0.tgz": elsewhere(
    "test/package/package.test.ts",
    '"-g", "--ignore-scripts"',
  ),
  "npm pack": elsewhere("test/package/package.test.ts", '"pack"'),
  "python3 -m pip wheel --no-deps ./python": elsewhere("python/tests/test_wheel.py", '"pip", "wheel", "--no-deps"'),
  'pip install "./tony_ts-0.1.0-py3-none-any.whl[node]"': elsewhere("python/tests/test_wheel.py", "{wheel}[node]"),
  "torchx run -s tony dist.ddp -j 2x4 --script train.py": elsewhere("python/tests/test_torchx.py", '"2x4"'),
  "node scripts/test/python-package.mjs -k traceback": elsewhere("scripts/test/phases.mjs", "python-package.mjs"),

  // TonY's own, beside what it becomes here.
  'java -cp "$(hadoop classpath):tony-cli.jar" com.linkedin.tony.cli.ClusterSubmitter …': elsewhere(
    "docs/guide/coming-from-tony.md",
    "ClusterSubmitter",
  ),
  "tony-ts submit …": inJob("tony-ts submit -conf_file job.xml"),

  // The demo starts the cluster that the next ones use.
  "npm run demo": inCheckout(),
  "npm run cluster": inCheckout(),
  "npm run cluster -- up": inCheckout(),
  "npm run cluster -- status": inCheckout(),
  "npm run cluster -- status --name NAME": inCheckout("npm run cluster -- status --name default"),
  "npm run cluster -- env": inCheckout(),
  'eval "$(npm run -s cluster -- env)"': inCheckout('eval "$(npm run -s cluster -- env)"; tony-ts list'),
  "npm run cluster -- kill nm1": inCheckout(),
  "npm run cluster -- start nm1": inCheckout(),
  "npm run cluster -- kill|term|stop|cont|start DAEMON": inCheckout(
    "npm run cluster -- stop nm2",
    "npm run cluster -- cont nm2",
    "npm run cluster -- term nm2",
    "npm run cluster -- start nm2",
  ),
  "npm run cluster -- down": inCheckout(),
  // Everything that it installs is here already.
  "npm run demo -- --yes": inCheckout("npm run demo -- --yes --once"),
  "npm run demo -- --once": withRow("npm run demo -- --yes"),
  "npm run cluster -- jars": inCheckout(),
  "npm run cluster -- run": elsewhere("docker/hadoop/Dockerfile", '"run"]'),
  "npm run cluster -- unplug nm3": elsewhere("test/support/fault-suite.ts", '"unplug"'),
  "npm run cluster -- unplug|plug DAEMON": elsewhere("test/support/fault-suite.ts", '"unplug"'),
  "npm run cluster -- decommission nm2 --within 60": elsewhere("test/support/fault-suite.ts", '"decommission"'),
  "npm run cluster -- recommission nm2": elsewhere("test/support/fault-suite.ts", '"recommission"'),
  "npm run cluster -- decommission|recommission DAEMON": elsewhere("test/support/fault-suite.ts", '"decommission"'),
  "npm run cluster -- up --nodes 3 --isolate 3": ofItsOwn("faults"),
  "npm run cluster -- up --preemption --nm-heartbeat-ms 250 --set yarn.am.liveness-monitor.expiry-interval-ms=5000":
    ofItsOwn("faults"),
  "npm run cluster -- up --name memory --calculator default --nodes 1 --set yarn.nodemanager.resource.cpu-vcores=2":
    ofItsOwn("memory-calculator"),
  "npm run cluster -- up --name fair --scheduler fair --nodes 1": ofItsOwn("fair-scheduler"),
  "npm run cluster -- up --name old --release 2.10.2": ofItsOwn("oldest-release"),
  "npm run cluster -- up --name async --scheduling async": elsewhere("scripts/matrix.mjs", '"--scheduling", "async"'),
  "npm run cluster -- up --name gateway --httpfs": ofItsOwn("gateway"),
  "npm run cluster -- up --name routed --router": ofItsOwn("gateway"),
  "npm run cluster -- up --name secure --secure": ofItsOwn("secure"),
  'eval "$(npm run -s cluster -- env --name secure --as alice)"': elsewhere(
    "test/secure/hadoop-doors.test.ts",
    '"--as"',
  ),
  "npm run matrix": inCheckout("npm run -s matrix -- --help"),
  "npm run cluster -- up --name ha --ha": ofItsOwn("ha"),
  "npm run cluster -- status --name ha": elsewhere("test/support/failover.ts", "clusterStatus"),
  "npm run cluster -- kill rm1 --name ha": elsewhere("test/support/failover.ts", '"ResourceManager"'),
  "npm run cluster -- kill zkfc1 --name ha": elsewhere("test/support/failover.ts", '"zkfc"'),
  "npm run cluster -- start zkfc1 --name ha": withRow("npm run cluster -- start nm1"),
  "docker compose -f docker/hadoop/compose.yaml up --detach": phase("images"),

  "npm test": elsewhere(".ci/run", "npm run -s test:all -- --yes"),
  "npm run test:all": elsewhere(".ci/run", "npm run -s test:all -- --yes"),
  "npm test -- --list": inCheckout(),
  "npm run test:all -- --every": inCheckout("npm run test:all -- --every --list"),
  "npm run test:all -- --record": elsewhere("scripts/test/measured.mjs", "test:all -- --record"),
  "npm test -- --yes": inCheckout("npm test -- --yes --only proto"),
  "npm test -- --only NAME": inCheckout("npm test -- --only proto"),
  "npm test -- --only e2e": phase("e2e"),
  "npm test -- --only faults": ofItsOwn("faults"),
  "npm test -- --only ha": ofItsOwn("ha"),
  "npm run test:unit": phase("unit"),
  "npm run test:unit -- --testPathPatterns am/core": inCheckout(
    "npm run test:unit -- --testPathPatterns am/core/executors/liveness",
  ),
  "npm run build": preparation("build"),
  "npm run check": phase("walls"),
  "npm run walls": phase("walls"),
  "npm run format": phase("lint"),
  "npm run docs": inCheckout(),
  "npm run simulate": phase("simulation"),
  "npm run simulate -- --seeds 20000": phase("simulation"),
  "npm run simulate -- --seeds N": inCheckout("npm run simulate -- --seeds 10"),
  "npm run simulate -- --from S": inCheckout("npm run simulate -- --from 5 --seeds 10"),
  "npm run simulate -- --seed S": inCheckout("npm run simulate -- --seed 5"),
  "npm run simulate -- --searches": inCheckout("npm run simulate -- --searches --seeds 5"),
  "npm run simulate -- --feeds": inCheckout("npm run simulate -- --feeds --seeds 5"),
  "npm run bench": inCheckout("npm run bench -- --only restart --runs 1 --json $FOLDER/results.json"),
  "npm run bench -- --only job --only gang": withRow("npm run bench"),
  "npm run bench -- --only store": withRow("npm run bench"),
  "npm run bench -- --only feeds": withRow("npm run bench"),
  "npm run bench -- --only search": withRow("npm run bench"),
  "npm run bench -- --only attacks": withRow("npm run bench"),
  "npm run bench -- --only citizen": withRow("npm run bench"),
  "npm run bench -- --runs 10 --json results.json": withRow("npm run bench"),
  "npm run bench -- --only protection": withRow("npm run bench"),
  "npm run bench -- --only NAME": withRow("npm run bench"),
  "npm run bench -- --runs N": withRow("npm run bench"),
  "npm run bench -- --json FILE": withRow("npm run bench"),
  "npm run fuzz": inCheckout("npm run fuzz -- --inputs 10"),
  "npm run coverage": phase("coverage"),
  "npm run coverage -- --write": phase("coverage"),
  "npm run mutants": inCheckout('npm run mutants -- --only "the oldest entry is read"'),
  "npm run mutants -- --only TEXT": withRow("npm run mutants"),
  "npm run mutants -- --rotate 10": inCheckout("npm run mutants -- --list --rotate 10"),
  "npm run mutants -- --copies 1": phase("mutants"),
  "npm run mutants -- --list": inCheckout(),
  "npm install": preparation("packages"),
  "node scripts/complete-lock.mjs": inCheckout(),
  "sudo apt-get install -y openjdk-17-jdk-headless maven python3 python3-venv python3-dev g++ make python3-torch libtorch-dev pybind11-dev util-linux iproute2 procps buildah mmdebstrap krb5-kdc krb5-admin-server krb5-user openssl chromium prometheus":
    elsewhere("scripts/system-packages.mjs", "apt-get"),
};
