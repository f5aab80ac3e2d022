import { get } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import { GenerationPorts } from "../../../executor/generation/generation-ports.ts";
import { takenPorts } from "../../../executor/program/ports.ts";
import { anExecutorLaunch } from "../../support/executor-launch.ts";

const settings = {
  host: "127.0.0.1",
  sections: { ...anExecutorLaunch.sections, ports: {} },
  portNames: ["rpc", "web"],
  tensorBoard: true,
  reusePort: false,
};

describe("the ports that an executor holds for its program", () => {
  let ports: GenerationPorts;
  afterEach(() => ports.release());
  const hold = async (changes: Partial<typeof settings> = {}) => {
    ports = await GenerationPorts.hold({ ...settings, ...changes }, Math.random);
    return ports;
  };

  test("are its task's, TensorBoard's, and those that its role names, each another", async () => {
    const { numbers, held } = await hold();
    const { task, tensorBoard, named } = numbers;
    expect(Object.keys(named)).toEqual(["rpc", "web"]);
    expect(held).toEqual([task, tensorBoard, named.rpc, named.web]);
    expect(new Set(held).size).toBe(4);
    expect(await takenPorts(held)).toEqual([...held]);
  });

  test("are 0 where there is none", async () => {
    const { numbers, held } = await hold({ portNames: [], tensorBoard: false });
    expect(numbers).toMatchObject({ tensorBoard: 0, named: {} });
    expect(held).toEqual([numbers.task]);
  });

  test("are free for the program when it starts, and none outlives that", async () => {
    const { held, programs, outliveStart } = await hold();
    expect(programs).toEqual(held);
    expect(outliveStart).toBe(false);
    await ports.releaseToProgram();
    expect(await takenPorts(held)).toEqual([]);
  });

  test("but the task's own where something is served there while the program runs", async () => {
    const { numbers } = await hold();
    ports.serveTask((_request, response) => response.end("served"));
    await ports.releaseToProgram();
    expect(ports.programs).not.toContain(numbers.task);
    expect(ports.outliveStart).toBe(true);
    expect(await takenPorts(ports.held)).toEqual([numbers.task]);
    const answer = await new Promise<string>((resolve, reject) => {
      get(`http://127.0.0.1:${numbers.task}/`, (response) => void text(response).then(resolve, reject)).on(
        "error",
        reject,
      );
    });
    expect(answer).toBe("served");
  });

  test("stay held beside the program that opens them with SO_REUSEPORT", async () => {
    await hold({ reusePort: true });
    await ports.releaseToProgram();
    expect(ports.programs).toEqual([]);
    expect(ports.outliveStart).toBe(true);
    expect(await takenPorts(ports.held)).toEqual([...ports.held]);
  });
});
