/** The variables for a process's place, in the order of the answer (SlotInfo#to_response_string). */
export const SLOT_VARIABLES = [
  "HOROVOD_RANK",
  "HOROVOD_SIZE",
  "HOROVOD_LOCAL_RANK",
  "HOROVOD_LOCAL_SIZE",
  "HOROVOD_CROSS_RANK",
  "HOROVOD_CROSS_SIZE",
] as const;

/** The first words of the lines that give a process its slot, or tell it that it gets none. */
export const SlotWords = { slot: "slot", none: "none" } as const;

/** The message of a process that reaches nobody, before the address. */
export const NOBODY_THERE = "connection refused at";

/** How many times, once a second, to ask a first task that holds its port but does not serve yet: it may still be restoring its checkpoint. */
const TRIES = 900;
/** The same where nobody holds the port: the first task has ended, or its loss will be noticed. */
const TRIES_REFUSED = 10;
/** A longer wait is reported. */
const QUIET_SECONDS = 5;

/**
 * What a process runs before its program: asks for its slot, waits for it, and exports it to its environment. The connection stays open in
 * the program and its forks, so that the operating system tells the other end when all of them have ended. It runs in the program's own shell
 * because it has to be stopped and suspended with it. When a signal ends a shell, its EXIT trap sees the status of the command before the one
 * that it waits for, mostly 0, which does not mean that the program succeeded: so the signals have traps of their own.
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
