/** One process of a fleet. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../programs/free-port.ts";

const program = fileURLToPath(new URL("../../../../../../bin/anulo.js", import.meta.url));
const KEPT = 64 * 1024;

/** Nothing started here outlives this process. */
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export class Member {
  readonly #child: ChildProcess;
  readonly url: string;
  /** Where the other processes reach it. */
  readonly address: string;
  readonly #said: () => string;

  private constructor(
    child: ChildProcess,
    { url, address }: Pick<Member, "url" | "address">,
    said: () => string,
  ) {
    this.#child = child;
    this.address = address;
    this.url = url;
    this.#said = said;
  }

  /** Starts `anulo wallet` with these flags, and waits until it serves. */
  static async start(flags: readonly string[]): Promise<Member> {
    const [port] = await freePorts(1);
    const address = `127.0.0.1:${port}`;
    const args = [
      program,
      "wallet",
      "--rpc-bind-port",
      "0",
      "--disable-rpc-login",
      "--fleet",
      address,
      ...flags,
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    alive.add(child);
    child.once("exit", () => alive.delete(child));
    let said = "";
    const url = await new Promise<string>((resolve, reject) => {
      const hear = (part: Buffer) => {
        said = (said + part.toString()).slice(-KEPT);
        const found = /wallet service: (\S+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("exit", () => reject(new Error(`a process of the fleet ended: ${said}`)));
    });
    return new Member(child, { url, address }, () => said);
  }

  /** The last of what it printed. */
  get said(): string {
    return this.#said();
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  goOn(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    this.#child.kill("SIGCONT");
    await ended;
  }
}
