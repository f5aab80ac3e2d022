/** The variables that say where its process stands, in the order in which they are answered (SlotInfo#to_response_string). */
export const SLOT_VARIABLES = [
  "HOROVOD_RANK",
  "HOROVOD_SIZE",
  "HOROVOD_LOCAL_RANK",
  "HOROVOD_LOCAL_SIZE",
  "HOROVOD_CROSS_RANK",
  "HOROVOD_CROSS_SIZE",
] as const;

/** What begins the line by which a process is told its slot, and the one by which it is told that it gets none. */
export const SlotWords = { slot: "slot", none: "none" } as const;

/** What a process says that finds nobody, before the address. */
export const NOBODY_THERE = "connection refused at";

/** How often, once a second, the first task is asked that holds its port but does not serve yet: it may still bring its checkpoint back. */
const TRIES = 900;
/** The same where nobody holds the port: the first task has ended, or will be missed. */
const TRIES_REFUSED = 10;
/** A longer wait is told. */
const QUIET_SECONDS = 5;

/**
 * What a process runs before its program: it asks for its slot, waits for it, and has it in its environment. The connection stays open in
 * the program and what it forks, so that the other end is told by the system when all of that has ended. It is the program's own shell
 * because it has to be stopped and suspended with it. A shell that a signal ends runs its EXIT trap with the status of the command before the
 * one that it waits for, mostly 0, which is no success of the program: the signals have traps of their own.
 */
export const SLOT_PRELUDE = `tony_slot() {
  local server="/dev/tcp/$HOROVOD_GLOO_RENDEZVOUS_ADDR/$HOROVOD_GLOO_RENDEZVOUS_PORT"
  local path="/slot/$HOROVOD_HOSTNAME:$HOROVOD_LOCAL_RANK" tries refused=0 line said= signal
  for ((tries = 0; tries < ${TRIES} && refused < ${TRIES_REFUSED}; tries++)); do
    if { exec 19<>"$server"; } 2>/dev/null; then
      refused=0
      printf 'GET %s HTTP/1.1\\r\\nHost: tony\\r\\n\\r\\n' "$path" >&19
      while true; do
        read -r -t ${QUIET_SECONDS} line <&19
        case "$?:$line" in
          0:${SlotWords.slot}\\ *)
            read -r line ${SLOT_VARIABLES.join(" ")} <<<"$line"
            export ${SLOT_VARIABLES.join(" ")}
            for signal in TERM INT HUP; do trap "trap - EXIT $signal; kill -$signal $$" $signal; done
            trap '[ $? -eq 0 ] && { printf "DELETE '"$path"' HTTP/1.1\\r\\nHost: tony\\r\\n\\r\\n" >'"$server"'; } 2>/dev/null || true' EXIT
            return ;;
          0:${SlotWords.none}\\ *) echo "tony-ts: \${line#* }" >&2; exit 1 ;;
          0:*) ;;
          1:*) break ;;
          *) [[ $said ]] || echo "tony-ts: waits until those that train take it in, at their next commit" >&2; said=1 ;;
        esac
      done
    else
      refused=$((refused + 1))
    fi
    sleep 1
  done
  echo "tony-ts: ${NOBODY_THERE} $server, where the first task was" >&2
  exit 1
}
tony_slot`;
