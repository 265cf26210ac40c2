import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { until } from "../until.ts";

/** A subscriber that is not ours: libzmq, by Python's binding. */
export type ZmqClient = {
  /** Each message as `topic:JSON`, in the order of their arrival. */
  readonly messages: readonly string[];
  /** Waits until it is so; throws where it is not so in time. */
  until(isSo: (messages: readonly string[]) => boolean, withinMs?: number): Promise<void>;
  stop(): Promise<void>;
};

/** Where Python is looked for: first the one by name, then the system's, for which packages are installed. */
const pythons = ["python3", "/usr/bin/python3"];
const WITHIN_MS = 120_000;

/** Prints that the handshake is done, then a line for each message; a message of many parts is shown as an error. */
const program = `
import sys, zmq
from zmq.utils.monitor import recv_monitor_message
socket = zmq.Context().socket(zmq.SUB)
socket.setsockopt(zmq.RCVHWM, 0)
monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
for topic in sys.argv[2:]: socket.setsockopt(zmq.SUBSCRIBE, topic.encode())
socket.connect(sys.argv[1])
recv_monitor_message(monitor)
print("connected", flush=True)
while True:
    parts = socket.recv_multipart()
    print(parts[0].decode() if len(parts) == 1 else "parts: %d" % len(parts), flush=True)
`;

function pythonWithZmq(): string | undefined {
  return pythons.find((python) => spawnSync(python, ["-c", "import zmq"], { stdio: "ignore" }).status === 0);
}

/** Why a client that is not ours cannot be run here, or undefined. Where programs are required, throws instead. */
export function zmqClientMissing(): string | undefined {
  if (pythonWithZmq() !== undefined) return undefined;
  const reason = "not installed: zmq for Python (Debian: apt-get install python3-zmq)";
  if (process.env.ANULO_REAL_PROGRAMS === "required") throw new Error(reason);
  return reason;
}

/** Subscribes to these beginnings of messages; resolves when the handshake is complete. */
export async function subscribe(endpoint: string, prefixes: readonly string[] = [""]): Promise<ZmqClient> {
  const python = pythonWithZmq();
  if (python === undefined) throw new Error("there is no zmq for Python");
  const child: ChildProcess = spawn(python, ["-u", "-c", program, endpoint, ...prefixes], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const messages: string[] = [];
  let isConnected = false;
  createInterface({ input: child.stdout! }).on("line", (line) => {
    if (isConnected) messages.push(line);
    else isConnected = line === "connected";
  });
  const client: ZmqClient = {
    messages,
    async until(isSo, withinMs = WITHIN_MS) {
      const isTimely = await until(async () => isSo(messages), withinMs);
      if (!isTimely)
        throw new Error(`${messages.length} messages of ${endpoint}, the last: ${messages.at(-1)}`);
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
  if (!(await until(async () => isConnected, WITHIN_MS))) {
    await client.stop();
    throw new Error(`no publisher at ${endpoint}`);
  }
  return client;
}
