/**
 * What programs of the known frameworks print when the connection to a peer is lost. The cause is then the peer or its machine, not this
 * program. The patterns match the libraries' own messages.
 */
const peerLossPatterns: readonly RegExp[] = [
  // errno, as C, Python and Java spell it
  /connection (was )?(reset|closed|aborted) by (the )?(remote )?peer/i,
  /\b(ConnectionResetError|ConnectionAbortedError|ConnectionRefusedError|BrokenPipeError)\b/,
  /\b(broken pipe|connection refused|connection reset|socket closed|no route to host)\b/i,
  // gloo (gloo/transport/tcp/pair.cc, gloo/rendezvous)
  /\bgloo\b.{0,500}\b(timed out|timeout|connectFullMesh failed|read error|write error)\b/i,
  // NCCL (ncclResult_t ncclRemoteError; ProcessGroupNCCL)
  /\bncclRemoteError\b|remote process exited or there was a network error/i,
  /NCCL communicator (was|has been) aborted/i,
  // torch.distributed's TCPStore
  /failed to recv, got 0 bytes/i,
  // gRPC, and TensorFlow over it
  /\bStatusCode\.UNAVAILABLE\b|\bUNAVAILABLE: /,
  /errors_impl\.(UnavailableError|AbortedError)|\bUnavailableError\b/,
  /failed to connect to all addresses|Endpoint read failed|Connection reset by peer/i,
  // JAX's coordination service
  /coordination service|heartbeat timeout.{0,500}task|tasks? (has|have) crashed/i,
  // Horovod, MPI
  /\bHorovodInternalError\b/,
];

/**
 * Whether a program failed because it lost the connection to a peer. With a traceback only its exception counts: earlier lines may be
 * about a connection that was restored.
 */
export function isPeerConnectionLost(exception: string | undefined, lastLines: readonly string[]): boolean {
  const said = exception ?? lastLines.join("\n");
  return peerLossPatterns.some((pattern) => pattern.test(said));
}
