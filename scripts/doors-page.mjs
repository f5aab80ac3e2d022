import { acceptMs, keptForPeople, mostByTask, mostOfTask, mostSessions } from "../am/clients/sessions.ts";
import { Bounds } from "../am/core/state/bounds.ts";
import { storeLimits } from "../am/core/store/limits.ts";
import { CALL_MS } from "../am/notices/json-calls.ts";
import { MOST_WAITING, TRIES } from "../am/notices/webhook.ts";
import { MOST_PART_BYTES } from "../am/page/log-parts.ts";
import { MOST_PAGE_CONNECTIONS, MOST_PAGE_HEADER_BYTES, PAGE_CONNECTION_MS } from "../am/page/page-door.ts";
import { mostEntries } from "../am/scheduler/local/unzip.ts";
import { MOST_API_BODY_BYTES, MOST_API_CONNECTIONS } from "../executor/api/task-api.ts";
import { MOST_PROGRESS_BYTES } from "../executor/monitoring/progress-file.ts";
import { HEADERS_TIMEOUT_MS, MOST_CONNECTIONS, REQUEST_TIMEOUT_MS } from "../executor/program/ports.ts";
import { MOST_NAME_BYTES } from "../executor/remote-shell/remote-shell.ts";
import { LONGEST_READ_MS, MOST_LOG_BYTES, MOST_READERS, MOST_WHOLE_BYTES } from "../portal/job-logs.ts";
import { MOST_JOBS } from "../portal/job-query.ts";
import {
  MOST_LOGIN_HEADER_BYTES,
  MOST_PORTAL_CONNECTIONS,
  MOST_PORTAL_HEADER_BYTES,
  PORTAL_REQUEST_MS,
} from "../portal/server.ts";
import { MOST_TEXT } from "../src/api/believable.ts";
import { CALLS_OF_TASK, usualCallLimits } from "../src/api/caller-calls.ts";
import { WRITER_LIMIT } from "../src/api/client-endpoint.ts";
import { FIRST_STREAMS, MOST_HEADERS_BYTES, MOST_STREAMS, usualGuardLimits } from "../src/api/connection-guard.ts";
import { LINK_WRITER_LIMIT } from "../src/api/executor-endpoint.ts";
import { LONGEST_UNNOTICED_MS } from "../src/api/keepalive.ts";
import { INITIAL_TAIL_CREDIT_BYTES } from "../src/api/messages.ts";
import { MOST_ANSWER_BYTES, MOST_REQUEST_BYTES, UNUSED_MS } from "../src/api/tls.ts";
import { MOST_ANNOUNCEMENT_BYTES } from "../src/frameworks/elastic-horovod/elastic-rendezvous.ts";
import { BYTES_OF_PAIR, MOST_VALUE_BYTES, SPARE_BYTES } from "../src/frameworks/rendezvous-store.ts";
import { maximumJsonBytes, maximumOtherBytes } from "../src/hadoop/hdfs/webhdfs-connection.ts";
import { LEAST_BYTES_PER_SECOND } from "../src/hadoop/http/exchange.ts";
import { negotiationMaxFrameBytes } from "../src/hadoop/rpc/connection.ts";
import { defaultMaxFrameBytes } from "../src/hadoop/rpc/frame.ts";
import { MOST_VALUES } from "../src/history/avro/read.ts";
import { MOST_HISTORY_BYTES, MOST_LINE } from "../src/history/json-lines.ts";
import { MOST_SERIES_BYTES } from "../src/history/series/file.ts";
import { MOST_METRICS } from "../src/job/program-metrics.ts";
import { MOST_PAGE_ROWS } from "../src/page/live-request.ts";

const none = "–";
/** @param {number} number */
const count = (number) => number.toLocaleString("en-US");
/** @param {number} ms */
const time = (ms) => (ms % 60_000 === 0 && ms > 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

/** @param {number} bytes */
function size(bytes) {
  const units = ["B", "KiB", "MiB"];
  const power = units.findLastIndex((_, power) => bytes >= 1024 ** power && bytes % 1024 ** power === 0);
  return `${count(bytes / 1024 ** power)} ${units[power]}`;
}

const guard = usualGuardLimits;
const calls = usualCallLimits;
const ofCaller = `${count(guard.mostOfCaller)} per caller; ${count(guard.mostUnproven)} unauthenticated, ${count(guard.mostUnprovenOfAddress)} per address; of these ${count(guard.mostServed)} are read, ${count(guard.mostServedOfAddress)} per address`;
const untilProof = `${time(guard.proofMs)} until a call is admitted, ${time(guard.refusedMs)} after one that is refused`;
const untilAsked = `${time(calls.askingMs)} to say what a call is for; ${time(LONGEST_UNNOTICED_MS)} without an answer to a ping; ${time(UNUSED_MS)} without a call`;
const asking = `${count(calls.mostAsking)} requests read at a time and ${count(calls.mostWaiting)} that wait, per caller; ${count(guard.mostUnprovenCalls)} on a connection before one is admitted; ${count(guard.mostProvenRefusals)} refusals per caller`;
const messages = `${size(MOST_HEADERS_BYTES)} of headers a call, ${size(MOST_REQUEST_BYTES)} a message in, ${size(MOST_ANSWER_BYTES)} out`;

const rows = [
  {
    door: "the ApplicationMaster's port, for clients",
    connections: ofCaller,
    streams: `${asking}; ${count(calls.mostCalls)} calls per caller and ${count(CALLS_OF_TASK)} more for each task; ${count(FIRST_STREAMS)} open on a connection, doubled when half of them are admitted, up to ${count(MOST_STREAMS)}`,
    bytes: `${messages}; ${count(WRITER_LIMIT)} messages that wait for a reader, ${size(INITIAL_TAIL_CREDIT_BYTES)} of a log`,
    deadlines: `${untilProof}; ${untilAsked}`,
  },
  {
    door: "the same, for executors",
    connections: ofCaller,
    streams: asking,
    bytes: `${messages}; ${count(LINK_WRITER_LIMIT)} messages that wait; in reports ${count(MOST_METRICS)} metrics, ${count(MOST_TEXT)} characters of an address or a reason, ${count(Bounds.servicesOfTask)} addresses for people`,
    deadlines: `${untilProof}; ${untilAsked}`,
  },
  {
    door: "an executor's port, for a later ApplicationMaster",
    connections: ofCaller,
    streams: `${asking}; ${count(calls.mostCalls)} calls per caller`,
    bytes: messages,
    deadlines: `${untilProof}; ${untilAsked}`,
  },
  {
    door: "sessions (`exec`, `forward`, …), through the ApplicationMaster",
    connections: none,
    streams: `${count(mostSessions)} per job, ${count(mostOfTask)} with a task; a task of the job has at most ${count(mostByTask)} with another one, and ${count(keptForPeople)} are reserved for people`,
    bytes: "as both streams accept them",
    deadlines: `${time(acceptMs)} for the executor's answer`,
  },
  {
    door: "a job's key-value store, through the ApplicationMaster",
    connections: none,
    streams: `${count(storeLimits.operations)} operations per transaction`,
    bytes: `${size(storeLimits.keyBytes)} a key, ${size(storeLimits.valueBytes)} a value, ${size(storeLimits.requestBytes)} a transaction; ${count(storeLimits.keys)} keys and ${size(storeLimits.totalBytes)} in all; ${size(storeLimits.listedBytes)} for all lists of a transaction`,
    deadlines: none,
  },
  {
    door: "a job's feeds, through the ApplicationMaster",
    connections: none,
    streams: "one waiting call per task and feed",
    bytes: `${count(MOST_TEXT)} characters of a name, a mark, or the reason why a split cannot be read`,
    deadlines: none,
  },
  {
    door: "a job's page, for YARN's proxy",
    connections: count(MOST_PAGE_CONNECTIONS),
    streams: "one request per connection; only GET",
    bytes: `${size(MOST_PAGE_HEADER_BYTES)} of headers; ${count(MOST_PAGE_ROWS)} tasks or ${size(MOST_PART_BYTES)} of logs an answer`,
    deadlines: `${time(PAGE_CONNECTION_MS)} for a request and its answer`,
  },
  {
    door: "the portal",
    connections: `${count(MOST_PORTAL_CONNECTIONS)}, from its own user on its machine and from named proxies, or from users who log in`,
    streams: "only GET",
    bytes: `${size(MOST_PORTAL_HEADER_BYTES)} of headers, ${size(MOST_LOGIN_HEADER_BYTES)} where people log in; ${count(MOST_JOBS)} jobs an answer`,
    deadlines: `${time(PORTAL_REQUEST_MS)} for a request`,
  },
  {
    door: "the history that the portal reads",
    connections: none,
    streams: none,
    bytes: `${size(MOST_HISTORY_BYTES)} a file, ${size(MOST_LINE)} a line, ${size(MOST_SERIES_BYTES)} of series unpacked; ${count(MOST_VALUES)} values of TonY's`,
    deadlines: none,
  },
  {
    door: "the stored logs that the portal reads",
    connections: `${count(MOST_READERS)} at a time`,
    streams: none,
    bytes: `${size(MOST_WHOLE_BYTES)} of indexes and of the ApplicationMaster's log; ${size(MOST_LOG_BYTES)} an answer`,
    deadlines: time(LONGEST_READ_MS),
  },
  {
    door: "Horovod's rendezvous, on the port of a task",
    connections: count(MOST_CONNECTIONS),
    streams: none,
    bytes: `${size(MOST_VALUE_BYTES)} a value, ${size(MOST_ANNOUNCEMENT_BYTES)} an announcement; ${size(SPARE_BYTES)} and ${size(BYTES_OF_PAIR)} for each pair of processes in all, and as much again while it is being read`,
    deadlines: `${time(HEADERS_TIMEOUT_MS)} for headers, ${time(REQUEST_TIMEOUT_MS)} for a request`,
  },
  {
    door: "the fifo through which a program's `ssh` announces calls",
    connections: none,
    streams: none,
    bytes: `${size(MOST_NAME_BYTES)} a line`,
    deadlines: none,
  },
  {
    door: "a task's own API (`TONY_API`), for programs of its container",
    connections: count(MOST_API_CONNECTIONS),
    streams: none,
    bytes: `${size(MOST_API_BODY_BYTES)} a body`,
    deadlines: none,
  },
  {
    door: "the progress file of a program",
    connections: none,
    streams: none,
    bytes: `${size(MOST_PROGRESS_BYTES)} at a time; ${count(MOST_METRICS)} metrics`,
    deadlines: none,
  },
  {
    door: "the answers of `tony.notify.url`",
    connections: "1",
    streams: `${count(TRIES)} tries per notice, ${count(MOST_WAITING)} notices that wait`,
    bytes: "the body is not read",
    deadlines: `${time(CALL_MS)} a try`,
  },
  {
    door: "answers of WebHDFS",
    connections: none,
    streams: none,
    bytes: `${size(maximumJsonBytes)} of JSON, ${size(maximumOtherBytes)} of any other answer that is quoted`,
    deadlines: `${count(LEAST_BYTES_PER_SECOND)} B of an answer a second, once it has begun`,
  },
  {
    door: "answers of Hadoop's RPC",
    connections: none,
    streams: none,
    bytes: `${size(negotiationMaxFrameBytes)} a frame until the login, ${size(defaultMaxFrameBytes)} afterwards`,
    deadlines: none,
  },
  {
    door: "archives that a job on this machine unpacks",
    connections: none,
    streams: none,
    bytes: `the free space of the disk; ${count(mostEntries)} entries of a zip`,
    deadlines: none,
  },
];

/** docs/reference/doors.md, with the numbers that the code uses. */
export function doorsPage() {
  const lines = rows.map(
    ({ door, connections, streams, bytes, deadlines }) =>
      `| ${door} | ${connections} | ${streams} | ${bytes} | ${deadlines} |`,
  );
  return `# Limits of every door

\`npm run docs\` generates this page from constants in the code: edit them there. A door is a place where tony-ts reads external input; it enforces these limits.
Who may use each door: [security.md](../makers/security.md).

| door | connections | calls and streams | bytes | deadlines |
| --- | --- | --- | --- | --- |
${lines.join("\n")}
`;
}
