import { describe, expect, test } from "@jest/globals";
import { interpreterOf } from "../../../../am/core/failures/remedies.ts";

const set = { PYTHON: "/opt/py/bin/python3", OTHER: "/opt/x/python3.12", EMPTY: "" };

describe("the Python that a command runs", () => {
  test.each([
    ["python3 train.py", { program: "python3" }],
    ["A=1 venv/bin/python3.11 train.py", { program: "venv/bin/python3.11" }],
    ['"${PYTHON:-python3}" -m torch.distributed.run train.py', { program: "/opt/py/bin/python3", variable: "PYTHON" }],
    ["cd x && $OTHER train.py", { program: "/opt/x/python3.12", variable: "OTHER" }],
    ["${PY:-python3.9} train.py", { program: "python3.9", variable: "PY" }],
    ["${EMPTY:-python3} train.py", { program: "python3", variable: "EMPTY" }],
  ])("is found in %s", (command, expected) => {
    expect(interpreterOf(command, set)).toEqual(expected);
  });

  test.each(["bash run.sh", "./train.py $PYTHONPATH", "$HOME/run.sh", "${DATA:-/data} x"])(
    "is not found in %s",
    (command) => {
      expect(interpreterOf(command, set)).toBeUndefined();
    },
  );
});
