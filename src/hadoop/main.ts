/** Hadoop for Node: what `tony-ts/hadoop` exports. */
export { type Clock, systemClock } from "./clock.ts";
export { CodedError, errorCode, errorMessage, HadoopError } from "./errors.ts";
export type { Endpoint } from "./rpc/endpoints.ts";
export {
  RpcAuthenticationError,
  RpcConnectionError,
  type RpcConnectionErrorCode,
  RpcProtocolError,
  RpcTimeoutError,
} from "./rpc/errors.ts";
export { isRemoteError, RemoteError } from "./rpc/remote-error.ts";
export { interactiveRetry, noRetry, patientRetry, type RetryPolicy } from "./rpc/retry.ts";
export type { Protection } from "./rpc/sasl/digest-md5.ts";
export {
  type Credentials,
  type NamedToken,
  readTokenFile,
  type TokenFileVersion,
  writeTokenFile,
} from "./security/token-file.ts";
export { TokenKind, tokenOfKind, withoutMasterToken } from "./security/tokens.ts";
export { currentUser, type User } from "./security/user.ts";
export type * from "./yarn/allocation.ts";
export type { ResourceManagerConnectionOptions, YarnConnectionOptions } from "./yarn/connection-options.ts";
export { type ResourceManagerService, resourceManagerEndpoints, type Settings } from "./yarn/endpoints.ts";
export { applicationIdOf, attemptIdOf } from "./yarn/ids.ts";
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
export { UnknownResourceTypeError } from "./yarn/resource-types.ts";
export { convertUnits, parseAmount } from "./yarn/resource-units.ts";
export { SchedulerClient, type SchedulerOptions } from "./yarn/scheduler.ts";
export type * from "./yarn/submission.ts";
