"""Trains a small network to read digits, with every worker of the job, and with nothing but Python's standard library.

Every worker runs this file; its command line says which one it is, and where all of them are. Each computes gradients of its own
share of the pictures; the workers add them up over TCP, so that all of them take the same step.
The first worker saves a checkpoint after every epoch; every worker of a restarted job is told the same one to go on from.
"""
import json
import math
import os
import random
import socket
import struct
import sys
import time
from operator import add, mul

EPOCHS = int(os.environ.get("EPOCHS", "5"))
BATCH_SIZE = 8
LEARNING_RATE = 0.1
HIDDEN = 24
# What a worker says to the one before it.
HELLO = b"!"
# tony-ts brings what is saved here to HDFS, and back into the container of every worker before it starts again.
CHECKPOINTS = os.environ.get("TONY_CHECKPOINT_LOCAL_DIR") or "checkpoints"

# Five dots in each of seven rows.
DIGITS = """
.###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ...#. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# .#... #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. .#... .###. .##..
"""


def pictures(count, seed):
    """Digits under so much noise that a person has to look twice. @returns pairs of dots and digit"""
    shapes = list(zip(*(line.split() for line in DIGITS.strip().splitlines())))
    chance = random.Random(seed)
    drawn = []
    for number in range(count):
        digit = number % 10
        dots = [(dot == "#") + chance.gauss(0, 0.65) for row in shapes[digit] for dot in row]
        drawn.append((dots + [1.0], digit))
    return drawn


class Workers:
    """The workers in a ring: each listens to the one before it and speaks to the one after it."""

    def __init__(self, rank, addresses):
        self.rank, self.count = rank, len(addresses)
        if self.count == 1:
            return
        server = socket.create_server(("", int(addresses[self.rank].rsplit(":", 1)[1])))
        next_worker = addresses[(self.rank + 1) % self.count].rsplit(":", 1)
        self.after = connected(*next_worker)
        self.before = server.accept()[0]
        self.before.sendall(HELLO)
        while not is_answered(self.after):
            self.after = connected(*next_worker)
        for connection in (self.after, self.before):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def sum(self, vector):
        """The sum of every worker's vector, the same to the last bit for all: it grows once round the ring, and then goes round."""
        last = self.count - 1
        if self.rank > 0:
            vector = list(map(add, self._hear(len(vector)), vector))
        if self.rank < last:
            self._say(vector)
            vector = self._hear(len(vector))
        if self.count > 1 and self.rank != last - 1:
            self._say(vector)
        return vector

    def _say(self, vector):
        self.after.sendall(struct.pack(f"{len(vector)}d", *vector))

    def _hear(self, length):
        data = bytearray()
        while len(data) < 8 * length:
            heard = self.before.recv(8 * length - len(data))
            if not heard:
                raise ConnectionError("the worker before this one has left")
            data += heard
        return struct.unpack(f"{length}d", data)


def connected(host, port):
    """A connection to a worker, which may not listen yet."""
    while True:
        try:
            return socket.create_connection((host, int(port)))
        except ConnectionRefusedError:
            time.sleep(0.1)


def is_answered(connection):
    """Until its program runs, a worker's port is held for it by its executor, which hangs up."""
    try:
        return connection.recv(1) == HELLO
    except ConnectionError:
        return False


def new_network():
    chance = random.Random(0)
    layer = lambda rows, columns: [[chance.gauss(0, columns**-0.5) for _ in range(columns)] for _ in range(rows)]
    return layer(HIDDEN, 36), layer(10, HIDDEN + 1)


def read(network, dots):
    """What the hidden units say, and how likely each digit is."""
    first, second = network
    hidden = [math.tanh(sum(map(mul, row, dots))) for row in first] + [1.0]
    powers = [math.exp(sum(map(mul, row, hidden))) for row in second]
    total = sum(powers)
    return hidden, [power / total for power in powers]


def gradient(network, batch):
    """The loss of a batch, and its derivative by each weight, as one vector."""
    first, second = network
    loss, by_first, by_second = 0.0, [[0.0] * 36 for _ in first], [[0.0] * (HIDDEN + 1) for _ in second]
    for dots, digit in batch:
        hidden, likely = read(network, dots)
        loss -= math.log(likely[digit])
        errors = [share - (number == digit) for number, share in enumerate(likely)]
        for row, error in zip(by_second, errors):
            row[:] = [slope + error * value for slope, value in zip(row, hidden)]
        for unit, row in enumerate(by_first):
            error = sum(error * weights[unit] for error, weights in zip(errors, second)) * (1 - hidden[unit] ** 2)
            row[:] = [slope + error * dot for slope, dot in zip(row, dots)]
    return [loss] + [slope for row in by_first + by_second for slope in row]


def step(network, slopes, rate):
    slopes = iter(slopes)
    for layer in network:
        for row in layer:
            row[:] = [weight - rate * next(slopes) for weight in row]


def accuracy(network, tests):
    likely = [read(network, dots)[1] for dots, _ in tests]
    return sum(shares.index(max(shares)) == digit for shares, (_, digit) in zip(likely, tests)) / len(tests)


def save_checkpoint(network, epoch, steps):
    """Writes under a temporary name and renames, so that a half-written file is never taken for a checkpoint; then says that it is there."""
    os.makedirs(CHECKPOINTS, exist_ok=True)
    path = os.path.abspath(os.path.join(CHECKPOINTS, f"step-{steps}.json"))
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"network": network, "epoch": epoch, "step": steps}, file)
    os.replace(path + ".part", path)
    if os.environ.get("TONY_PROGRESS_FILE"):
        with open(os.environ["TONY_PROGRESS_FILE"], "a", encoding="utf-8") as progress:
            progress.write(json.dumps({"step": steps, "checkpoint": path}) + "\n")


def main():
    workers = Workers(int(sys.argv[1]), sys.argv[2].split(","))
    print(f"worker {workers.rank} of {workers.count}", flush=True)
    share = pictures(1600, seed=1)[workers.rank :: workers.count]
    tests = pictures(500, seed=2)
    network, first_epoch, steps = new_network(), 0, 0
    if os.environ.get("TONY_CHECKPOINT"):
        with open(os.environ["TONY_CHECKPOINT"], encoding="utf-8") as file:
            state = json.load(file)
        network, first_epoch, steps = state["network"], state["epoch"] + 1, state["step"]
        print(f"resumed from step {steps}", flush=True)

    batches = len(share) // BATCH_SIZE
    pause = float(os.environ.get("SECONDS_PER_STEP", "0"))
    for epoch in range(first_epoch, EPOCHS):
        random.Random(epoch).shuffle(share)
        total = 0.0
        for number in range(batches):
            batch = share[number * BATCH_SIZE : (number + 1) * BATCH_SIZE]
            loss, *slopes = workers.sum(gradient(network, batch))
            pictures_seen = BATCH_SIZE * workers.count
            step(network, slopes, LEARNING_RATE / pictures_seen)
            total += loss / pictures_seen
            steps += 1
            time.sleep(pause)
        if workers.rank == 0:
            save_checkpoint(network, epoch, steps)
            right = accuracy(network, tests) * 100
            print(
                f"epoch {epoch + 1}/{EPOCHS}  loss {total / batches:.2f}  test accuracy {right:.1f} %   checkpoint step {steps}",
                flush=True,
            )


if __name__ == "__main__":
    main()
