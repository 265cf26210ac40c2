/** The program `anulo wallet` as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../../../bin/anulo.js", import.meta.url));
/** Characters of its output that are kept. */
const MAX_OUTPUT = 1024 * 1024;

/** Nothing started here outlives this process. */
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export class WalletProcess {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly #output: () => string;

  private constructor(child: ChildProcess, url: string, output: () => string) {
    this.#child = child;
    this.url = url;
    this.#output = output;
  }

  /** Starts it with these flags, on a free port without a login, and waits until it serves. */
  static async start(flags: readonly string[]): Promise<WalletProcess> {
    const args = [program, "wallet", "--rpc-bind-port", "0", "--disable-rpc-login", ...flags];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    alive.add(child);
    child.once("exit", () => alive.delete(child));
    let output = "";
    const url = await new Promise<string>((resolve, reject) => {
      const read = (part: Buffer) => {
        output = (output + part.toString()).slice(-MAX_OUTPUT);
        const match = /wallet service: (\S+)/.exec(output)?.[1];
        if (match !== undefined) resolve(match);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("exit", () => reject(new Error(`a wallet service ended: ${output}`)));
    });
    return new WalletProcess(child, url, () => output);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The last of what it printed. */
  get output(): string {
    return this.#output();
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    this.#child.kill("SIGCONT");
    await ended;
  }
}
