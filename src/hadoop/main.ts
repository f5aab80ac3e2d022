/** Hadoop for Node: what `tony-ts/hadoop` exports. */
// The declarations refer to Node's types; TypeScript 6 and later loads none unless a reference asks for them.
/// <reference types="node" preserve="true" />
export { type MonotonicClock, monotonicClock } from "./clock.ts";
export {
  Configuration,
  type ExpansionVariables,
  processVariables,
  type RefusedSetting,
  type Setting,
} from "./conf/configuration.ts";
export { ConfigurationError, type ConfigurationErrorCode, type SourceLocation } from "./conf/errors.ts";
export { loadConfiguration } from "./conf/site-files.ts";
export type { HostPort } from "./conf/values.ts";
export { parseProperties, readPropertiesFile, type XmlProperty } from "./conf/xml.ts";
export { CodedError, errorCode, errorMessage, HadoopError } from "./errors.ts";
export { localFileContent } from "./hdfs/content.ts";
export { FileSystemError, type FileSystemErrorCode, hasCode } from "./hdfs/errors.ts";
export type { Content, CreateOptions, FileStatus, FileSystem, OpenOptions } from "./hdfs/file-system.ts";
export { FileSystems, type FileSystemsOptions, type LocatedPath } from "./hdfs/file-systems.ts";
export type { FileUrl } from "./hdfs/file-url.ts";
export { LocalFileSystem } from "./hdfs/local.ts";
export { WebHdfs, type WebHdfsOptions } from "./hdfs/webhdfs.ts";
export { HttpClient, type HttpClientOptions, type HttpRequest } from "./http/client.ts";
export { HttpError, type HttpErrorCode } from "./http/exchange.ts";
export { type CallOptions, type CallTrouble, RpcClient, type RpcClientOptions } from "./rpc/client.ts";
export {
  RpcConnectionError,
  type RpcConnectionErrorCode,
  RpcProtocolError,
  RpcTimeoutError,
} from "./rpc/errors.ts";
export { isRemoteError, RemoteError } from "./rpc/remote-error.ts";
export { interactiveRetry, noRetry, patientRetry, type RetryPolicy } from "./rpc/retry.ts";
export { type RequestOf, type ResponseOf, ServiceClient, type ServiceMethods } from "./rpc/service.ts";
export {
  configuredAuthentication,
  configuredCredentials,
  configuredProtections,
} from "./security/configured-credentials.ts";
export { containerCredentials } from "./security/container-credentials.ts";
export {
  type Credentials,
  type NamedToken,
  noCredentials,
  tokenOfKind,
  withoutMasterRights,
} from "./security/credentials.ts";
export type {
  CredentialsProvider,
  HttpAuthentication,
  HttpProof,
  HttpService,
  RpcService,
} from "./security/credentials-provider.ts";
export { type DelegationOptions, delegatedCredentials } from "./security/delegated-credentials.ts";
export { type Delegation, delegationOf } from "./security/delegation.ts";
export { AuthenticationError, type AuthenticationErrorCode } from "./security/errors.ts";
export type { GssApi, GssContext, GssCredential, GssMechanism, KeytabLogin } from "./security/kerberos/gss-api.ts";
export { type KerberosOptions, kerberosCredentials } from "./security/kerberos/kerberos-credentials.ts";
export { KerberosLogin } from "./security/kerberos/login.ts";
export { type DigestOptions, type Protection, tokenDigest } from "./security/sasl/digest-md5.ts";
export type {
  AuthenticationStrategy,
  MechanismOffer,
  SaslMechanism,
  SecurityLayer,
} from "./security/sasl/mechanism.ts";
export { simple, simpleCredentials, type TokenOptions, tokenCredentials } from "./security/simple-credentials.ts";
export { type Token, TokenKind } from "./security/token.ts";
export { readTokenFile, type TokenFileVersion, writeTokenFile } from "./security/token-file.ts";
export { currentUser, type User } from "./security/user.ts";
export { type WireMethod, wireMethod } from "./wire/codec.ts";
export { findAggregatedLogs, logsAreAggregated, readAggregatedLogs } from "./yarn/aggregated-logs.ts";
export type * from "./yarn/allocation.ts";
export type { ResourceManagerConnectionOptions, YarnConnectionOptions } from "./yarn/connection-options.ts";
export { ContainerLogError, ContainerLogs, type ContainerLogsOptions } from "./yarn/container-logs.ts";
export { type ResourceManagerService, resourceManagerEndpoints, type Settings } from "./yarn/endpoints.ts";
export { applicationIdOf, attemptIdOf } from "./yarn/ids.ts";
export type { AggregatedLog, NodeLogFile } from "./yarn/log-files/node-log-file.ts";
export {
  type ContainerFailure,
  type ContainerStart,
  type NodeAnswer,
  NodeManagerPool,
  type NodeManagerPoolOptions,
} from "./yarn/node-manager.ts";
export type * from "./yarn/records.ts";
export { ContainerExitStatus } from "./yarn/records.ts";
export { ResourceManagerClient, type ResourceManagerOptions } from "./yarn/resource-manager.ts";
export { convertUnits, parseAmount, UnknownResourceTypeError } from "./yarn/resource-types.ts";
export { SchedulerClient, type SchedulerOptions } from "./yarn/scheduler.ts";
export type * from "./yarn/submission.ts";
