/** Starts NATS servers with JetStream for tests, each in a temporary folder, on loopback. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./harness.ts";

/** Why no server can be started here, or undefined. Throws where the real programs are required. */
export function natsMissing(): string | undefined {
  if (spawnSync("nats-server", ["--version"]).status === 0) return undefined;
  const reason = "nats-server is not installed (Debian: apt-get install nats-server)";
  if (process.env.ANULO_REAL_PROGRAMS === "required") throw new Error(reason);
  return reason;
}

export interface NatsServer {
  /** With a user and a password. */
  readonly address: string;
  kill(): Promise<void>;
  /** Starts it again, on the same port, where it was killed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const PASSWORD = "not-to-be-told";

export async function startNats(): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-nats-"));
  let port = -1;
  let server: ChildProcess | undefined;
  const portsFile = () => readdirSync(folder).find((name) => name.endsWith(".ports"));
  /** Of the ports file, which the server writes once it listens. */
  const readPort = (): number | undefined => {
    const file = portsFile();
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
    return text === "" ? undefined : Number(new URL((JSON.parse(text) as { nats: string[] }).nats[0]!).port);
  };
  const start = async () => {
    const old = portsFile();
    if (old !== undefined) rmSync(join(folder, old));
    const place = ["-a", "127.0.0.1", "-p", String(port), "-sd", join(folder, "data")];
    const options = ["-js", "--ports_file_dir", folder, "--user", "anulo", "--pass", PASSWORD];
    server = spawn("nats-server", [...place, ...options], { stdio: "ignore" });
    await until(() => readPort() !== undefined);
    port = readPort()!;
  };
  const end = async () => {
    if (server === undefined) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
    server = undefined;
  };
  await start();
  return {
    get address() {
      return `nats://anulo:${PASSWORD}@127.0.0.1:${port}`;
    },
    kill: end,
    start,
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
