import { createReadStream, statSync } from "node:fs";
import { loadConfiguration } from "../src/hadoop/conf/site-files.ts";
import { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../src/hadoop/security/simple-credentials.ts";
import { currentUser } from "../src/hadoop/security/user.ts";

const [, , source = "", target = ""] = process.argv;

/** Does what `hdfs dfs -put -f SOURCE TARGET` does, with our own client, and prints its peak memory in MiB. */
const configuration = loadConfiguration(process.env.HADOOP_CONF_DIR ?? "");
const fileSystems = new FileSystems({
  configuration,
  credentials: simpleCredentials({ name: currentUser(process.env).name }),
});
const { fileSystem, path } = fileSystems.locate(target);
const content = { lengthBytes: statSync(source).size, open: () => createReadStream(source) };
await fileSystem.create(path, content, { permission: 0o600, overwrite: true });
fileSystems.close();
console.log(process.resourceUsage().maxRSS / 1024);
