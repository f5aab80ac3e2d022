/**
 * The command `ssh` of a launcher's container. It is bash, because `mpirun` starts one for each host, and so many Nodes would be too much
 * for a container's memory. It hands its call to the executor by named pipes in a folder of the call:
 *
 *     call     words and ends of calls, NUL after each: host, command
 *     door     pipe of the executor: the folder's name, a line
 *     alive    pipe, written to when all are open, and open as long as the script lives
 *     exit     file with the exit code, written before stdout and stderr end
 */
export const sshScript = `#!/usr/bin/env bash
# Runs a command in another task of this job, called as ssh is: ssh [options] HOST COMMAND
folder=$(dirname "$(readlink -f "\${BASH_SOURCE[0]}")")
exec 7<&0
while getopts ":46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:" option; do
  [ "$option" = n ] && exec 7< /dev/null
done
shift $((OPTIND - 1))
if [ $# -lt 2 ]; then
  echo "ssh: give a host of this job and a command for it" >&2
  exit 255
fi
host=\${1#*@}
shift
call=$(mktemp -d "$folder/calls/XXXXXXXXXX") || exit 255
printf '%s\\0' "$host" "$*" > "$call/call"
mkfifo "$call/stdin" "$call/stdout" "$call/stderr" "$call/alive" || exit 255
trap 'exit 143' TERM INT HUP
trap 'kill $(jobs -p) 2>/dev/null' EXIT
echo "\${call##*/}" > "$folder/door"
exec 3< "$call/stdout" 4< "$call/stderr" 5> "$call/stdin" 6> "$call/alive"
echo >&6
cat <&7 >&5 3<&- 4<&- 6>&- 2>/dev/null &
exec 5>&- 7<&-
cat <&3 4<&- 6>&- & out=$!
cat <&4 >&2 3<&- 6>&- & err=$!
wait "$out" "$err"
exit "$(cat "$call/exit" 2>/dev/null || echo 255)"
`;
