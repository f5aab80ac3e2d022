import { execFile } from "node:child_process";
import { constants, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { Call, type CallOptions } from "./call.ts";

export interface RemoteShellOptions extends Omit<CallOptions, "folder"> {
  /** A new one, for the script and what it needs. */
  readonly folder: string;
}

/** Linux's limit for the name of a call's folder. */
export const MOST_NAME_BYTES = 255;

/** What a program finds as `ssh`: it runs commands in other tasks of the job, as sessions at the ApplicationMaster. */
export class RemoteShell {
  readonly #options: RemoteShellOptions;
  readonly #calls = new Set<Call>();
  readonly #door: Socket;

  private constructor(options: RemoteShellOptions) {
    this.#options = options;
    // Both ends are kept open: a script that announces a call never waits, and its end is not the door's.
    const file = openSync(path.join(options.folder, "door"), constants.O_RDWR | constants.O_NONBLOCK);
    this.#door = new Socket({ fd: file, readable: true, writable: false });
    const lines = new BoundedLines(MOST_NAME_BYTES);
    this.#door.on("data", (chunk: Buffer) => {
      for (const name of lines.push(chunk)) this.#answer(name);
    });
  }

  /** Puts the script into its folder, and answers its calls from then on. */
  static async open(options: RemoteShellOptions): Promise<RemoteShell> {
    const { folder, hosts } = options;
    await mkdir(path.join(folder, "calls"), { recursive: true, mode: 0o700 });
    await promisify(execFile)("mkfifo", ["-m", "600", path.join(folder, "door")]);
    const files = Object.entries(hosts.files).map(([name, text]) => writeFile(path.join(folder, name), text));
    await Promise.all([...files, writeFile(path.join(folder, "ssh"), sshScript, { mode: 0o700 })]);
    return new RemoteShell(options);
  }

  /** Ends what runs elsewhere, and removes the folder. Never rejects. */
  async close(): Promise<void> {
    this.#door.destroy();
    for (const call of this.#calls) call.end();
    // A script that is called meanwhile may keep the folder in use: then it is removed with the container.
    await rm(this.#options.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  #answer(name: string): void {
    const folder = path.join(this.#options.folder, "calls", path.basename(name));
    const call = new Call({ ...this.#options, folder });
    this.#calls.add(call);
    const over = () => this.#calls.delete(call);
    // If its script is gone before the call was read, there is nobody to answer.
    void call.run().then(over, over);
  }
}

/**
 * The command `ssh` of a launcher's container. It is a bash script, because `mpirun` starts one for each host, and so many Node processes
 * would be too much for a container's memory. It passes its call to the executor by named pipes in a folder of the call:
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

/** Cuts a stream of text into lines. What comes without an end of line is kept only as far as a line may be long; longer ones are left out. */
export class BoundedLines {
  readonly #mostBytes: number;
  #rest = Buffer.alloc(0);
  #isTooLong = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns the lines that end in it */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      this.#add(chunk.subarray(from, end));
      if (!this.#isTooLong) lines.push(this.#rest.toString("utf8"));
      this.#rest = Buffer.alloc(0);
      this.#isTooLong = false;
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    return lines;
  }

  #add(piece: Buffer): void {
    this.#isTooLong ||= this.#rest.length + piece.length > this.#mostBytes;
    this.#rest = this.#isTooLong ? Buffer.alloc(0) : Buffer.concat([this.#rest, piece]);
  }
}
