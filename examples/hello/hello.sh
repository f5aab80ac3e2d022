#!/usr/bin/env bash
# Prints what every task of a job is told.
echo "hello from $JOB_NAME:$TASK_INDEX, one of $TASK_NUM, in $PWD"
echo "application $JOB_ID, generation $TONY_GENERATION"
