/**
 * The values of core-default.xml, hdfs-default.xml and yarn-default.xml (Hadoop 3.4.2) that this library reads. Sites write only what
 * differs from them, so they are part of every configuration.
 */
export const hadoopDefaults: Readonly<Record<string, string>> = {
  "hadoop.tmp.dir": "/tmp/hadoop-${user.name}",
  "hadoop.security.authentication": "simple",
  "hadoop.rpc.protection": "authentication",
  "hadoop.security.token.service.use_ip": "true",
  "fs.defaultFS": "file:///",
  "ipc.maximum.data.length": "134217728",
  "ipc.client.connect.timeout": "20000",
  "dfs.webhdfs.user.provider.user.pattern": "^[A-Za-z_][A-Za-z0-9._-]*[$]?$",
  "dfs.http.policy": "HTTP_ONLY",
  "dfs.namenode.http-address": "0.0.0.0:9870",
  "dfs.namenode.https-address": "0.0.0.0:9871",
  "dfs.user.home.dir.prefix": "/user",
  "yarn.resourcemanager.hostname": "0.0.0.0",
  "yarn.resourcemanager.address": "${yarn.resourcemanager.hostname}:8032",
  "yarn.resourcemanager.scheduler.address": "${yarn.resourcemanager.hostname}:8030",
  "yarn.resourcemanager.admin.address": "${yarn.resourcemanager.hostname}:8033",
  "yarn.resourcemanager.webapp.address": "${yarn.resourcemanager.hostname}:8088",
  "yarn.resourcemanager.webapp.https.address": "${yarn.resourcemanager.hostname}:8090",
  "yarn.resourcemanager.ha.enabled": "false",
  "yarn.resourcemanager.am.max-attempts": "2",
  "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "1000",
  "yarn.am.liveness-monitor.expiry-interval-ms": "600000",
  "yarn.nm.liveness-monitor.expiry-interval-ms": "600000",
  "yarn.http.policy": "HTTP_ONLY",
  "yarn.log-aggregation-enable": "false",
  "yarn.log-aggregation.file-formats": "TFile",
  "yarn.log-aggregation.file-controller.TFile.class":
    "org.apache.hadoop.yarn.logaggregation.filecontroller.tfile.LogAggregationTFileController",
  "yarn.nodemanager.remote-app-log-dir": "/tmp/logs",
  "yarn.nodemanager.remote-app-log-dir-suffix": "logs",
  "yarn.nodemanager.vmem-pmem-ratio": "2.1",
  "yarn.nodemanager.vmem-check-enabled": "true",
};

/** Deprecated names that sites still use, from org.apache.hadoop.conf.Configuration and HdfsConfiguration; both names share one value. */
export const deprecatedNames: Readonly<Record<string, string>> = {
  "fs.default.name": "fs.defaultFS",
  "dfs.federation.nameservices": "dfs.nameservices",
  "dfs.http.address": "dfs.namenode.http-address",
  "dfs.https.address": "dfs.namenode.https-address",
};

/**
 * The first words of the names in core-, hdfs-, yarn- and mapred-default.xml (Hadoop 3.4.2) and of the names that these replaced: a setting
 * that begins otherwise does not belong to Hadoop.
 */
export const hadoopPrefixes: ReadonlySet<string> = new Set([
  ...[
    "adl",
    "datanode",
    "dfs",
    "file",
    "fs",
    "ftp",
    "ha",
    "hadoop",
    "httpfs",
    "io",
    "ipc",
    "map",
    "mapred",
    "mapreduce",
  ],
  ...["net", "nfs", "rpc", "s3", "security", "seq", "ssl", "tfile", "yarn"],
]);
