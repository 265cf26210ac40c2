import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Exact, ExactObject } from "@anulo/devnet";
import { call } from "@anulo/devnet";
import type { FilePoint } from "./points.ts";
import type { Order } from "./victim-program.ts";

const program = fileURLToPath(new URL("./victim-program.js", import.meta.url));

/** A wallet service in a process of its own, that can be killed. */
export class Victim {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, url: string, ended: Promise<unknown>) {
    this.#child = child;
    this.#url = url;
    this.#ended = ended;
  }

  static async start(walletDir: string, nodeUrl: string): Promise<Victim> {
    const child = fork(program, [walletDir, nodeUrl], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const ended = once(child, "exit");
    const message = await Promise.race([once(child, "message"), ended.then(() => undefined)]);
    if (message === undefined) throw new Error("the wallet service ended at its start");
    return new Victim(child, (message[0] as { url: string }).url, ended);
  }

  get url(): string {
    return this.#url;
  }

  get isDead(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  ask(method: string, params: Exact = {}): Promise<ExactObject> {
    return call(this.#url, method, params);
  }

  arm(point: FilePoint): Promise<void> {
    return this.#tell({ kind: "arm", point });
  }

  /** Resolves as well if it ends before it has received it. */
  async #tell(order: Order): Promise<void> {
    const response = once(this.#child, "message");
    this.#child.send(order, () => undefined);
    await Promise.race([response, this.#ended]);
  }

  /** SIGKILL; also good for one that is dead. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
