#!/usr/bin/env bash
# Joins the Ray cluster of RAY_ADDRESS. Its sockets are in a folder of its own: containers of one machine share /tmp.
exec "${PYTHON:-python3}" -m ray.scripts.scripts start --address="$RAY_ADDRESS" --node-ip-address="$TONY_HOST" --num-cpus=1 --object-store-memory=100000000 \
  --temp-dir="$(mktemp -d /tmp/ray-XXXXXX)" --block
