#!/usr/bin/env bash
# Starts the head of a Ray cluster, with its dashboard where tony-ts links to it, and runs the program there.
set -e
"${PYTHON:-python3}" -m ray.scripts.scripts start --head --node-ip-address="$TONY_HOST" --port="$TONY_PORT" --num-cpus=0 --object-store-memory=100000000 \
  --temp-dir="$(mktemp -d /tmp/ray-XXXXXX)" --disable-usage-stats --dashboard-host=0.0.0.0 --dashboard-port="$TB_PORT"
exec "${PYTHON:-python3}" main.py
