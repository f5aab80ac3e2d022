# A task that writes down when it began and ended, in seconds since the epoch, and runs until it may end.
# Times come from the shell itself: no process is started for them.
folder=$BENCH_FOLDER
name=$JOB_NAME-$TASK_INDEX
printf '%s\n' "$EPOCHREALTIME" >> "$folder/$name.started"
printf '%s\n' $$ > "$folder/$name.pid"
while [ ! -e "$folder/release" ]; do sleep 0.2; done
printf '%s\n' "$EPOCHREALTIME" >> "$folder/$name.ended"
