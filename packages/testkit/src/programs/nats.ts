/** A NATS server with JetStream of its own for services under test, in a temporary folder, on a free port of loopback. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";

const READY_MS = 120_000;

/** Why no server can be started here, or undefined. Throws where the real programs are required. */
export function natsMissing(): string | undefined {
  if (spawnSync("nats-server", ["--version"]).status === 0) return undefined;
  const reason = "nats-server is not installed (Debian: apt-get install nats-server)";
  if (process.env.ANULO_REAL_PROGRAMS === "required") throw new Error(reason);
  return reason;
}

export class NatsProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-nats-"));
  #port = -1;
  #child: ChildProcess | undefined;
  readonly #killAtExit = () => void this.#child?.kill("SIGKILL");

  static async start(): Promise<NatsProcess> {
    const server = new NatsProcess();
    process.once("exit", server.#killAtExit);
    await server.start();
    return server;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Starts it, on the same port and files where it was killed. */
  async start(): Promise<void> {
    const old = this.#portsFile();
    if (old !== undefined) rmSync(old);
    const listen = ["-a", "127.0.0.1", "-p", `${this.#port}`, "--ports_file_dir", this.#folder];
    const child = spawn("nats-server", [...listen, "-js", "-sd", join(this.#folder, "data")], {
      stdio: "ignore",
    });
    this.#child = child;
    if (!(await until(async () => this.#readPort() !== undefined, READY_MS)))
      throw new Error("nats-server does not start");
    this.#port = this.#readPort()!;
  }

  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    this.#child = undefined;
  }

  async stop(): Promise<void> {
    await this.kill();
    process.off("exit", this.#killAtExit);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #portsFile(): string | undefined {
    const name = readdirSync(this.#folder).find((file) => file.endsWith(".ports"));
    return name === undefined ? undefined : join(this.#folder, name);
  }

  /** The port in the file that the server writes once it listens. */
  #readPort(): number | undefined {
    const file = this.#portsFile();
    const text = file === undefined ? "" : readFileSync(file, "utf8");
    return text === "" ? undefined : Number(new URL((JSON.parse(text) as { nats: string[] }).nats[0]!).port);
  }
}
