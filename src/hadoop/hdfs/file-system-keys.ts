/** The properties that say where file systems are: what FileSystems reads of a configuration to locate a path. */
export const fileSystemKey =
  /^(fs\.(defaultFS$|viewfs\.)|dfs\.(nameservices$|http\.policy$|ha\.namenodes\.|namenode\.(rpc|http|https)-address))/;
