"""Trains a small network to read digits, with the parameters of its command line, and with nothing but Python's standard library.

After each epoch it reports the share of test pictures that it reads rightly: what a search maximizes.
"""
import argparse
import json
import math
import os
import random

EPOCHS = 10

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
    """Digits under noise. @returns pairs of dots and digit"""
    shapes = list(zip(*(line.split() for line in DIGITS.strip().splitlines())))
    chance = random.Random(seed)
    drawn = []
    for number in range(count):
        dots = [(dot == "#") + chance.gauss(0, 0.65) for row in shapes[number % 10] for dot in row]
        drawn.append((dots + [1.0], number % 10))
    return drawn


class Network:
    """One hidden layer, trained by gradient descent with momentum."""

    def __init__(self, inputs, hidden, outputs):
        chance = random.Random(0)

        def layer(rows, columns):
            return [[chance.gauss(0, columns**-0.5) for _ in range(columns)] for _ in range(rows)]

        self.layers = [layer(hidden, inputs), layer(outputs, hidden + 1)]
        self.speeds = [[[0.0] * len(row) for row in rows] for rows in self.layers]

    def forward(self, dots):
        first, second = self.layers
        hidden = [math.tanh(sum(map(float.__mul__, row, dots))) for row in first] + [1.0]
        scores = [sum(map(float.__mul__, row, hidden)) for row in second]
        most = max(scores)
        shares = [math.exp(score - most) for score in scores]
        total = sum(shares)
        return hidden, [share / total for share in shares]

    def learn(self, dots, digit, rate, momentum):
        hidden, shares = self.forward(dots)
        errors = [share - (place == digit) for place, share in enumerate(shares)]
        second = self.layers[1]
        back = [
            (1 - value * value) * sum(error * row[place] for error, row in zip(errors, second))
            for place, value in enumerate(hidden[:-1])
        ]
        self.step(1, errors, hidden, rate, momentum)
        self.step(0, back, dots, rate, momentum)

    def step(self, layer, errors, inputs, rate, momentum):
        for error, row, speeds in zip(errors, self.layers[layer], self.speeds[layer]):
            for place, value in enumerate(inputs):
                speeds[place] = momentum * speeds[place] - rate * error * value
                row[place] += speeds[place]

    def reads(self, dots):
        shares = self.forward(dots)[1]
        return shares.index(max(shares))


def report(step, accuracy):
    """What a search, `tony-ts status` and its charts see of this program; nothing outside of a job."""
    progress = os.environ.get("TONY_PROGRESS_FILE")
    if progress is not None:
        with open(progress, "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"step": step, "metrics": {"accuracy": accuracy}}) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hidden", type=int, default=16)
    arguments.add_argument("--rate", type=float, default=0.05)
    arguments.add_argument("--momentum", type=float, default=0.5)
    given = arguments.parse_args()

    train, test = pictures(600, seed=1), pictures(200, seed=2)
    network = Network(len(train[0][0]), given.hidden, 10)
    order = random.Random(0)
    for epoch in range(1, EPOCHS + 1):
        order.shuffle(train)
        for dots, digit in train:
            network.learn(dots, digit, given.rate, given.momentum)
        accuracy = sum(network.reads(dots) == digit for dots, digit in test) / len(test)
        print(f"epoch {epoch}/{EPOCHS}: accuracy {accuracy:.3f}")
        report(epoch, accuracy)


if __name__ == "__main__":
    main()
