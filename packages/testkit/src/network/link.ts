import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface LinkOptions {
  /** Where the caller finds it: an address of this machine that no other link has. */
  readonly host: string;
  /** The caller's address, from which the other end is called. */
  readonly from: string;
  readonly to: { readonly host: string; readonly port: number };
}

/** A line from one node to another, as a proxy that can be slow or cut. */
export class Link {
  readonly #options: LinkOptions;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #isCut = false;
  #delayMs = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, this.#options.host, resolve));
    return `${this.#options.host}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Everything that is under way is lost, and nobody gets through until it heals. */
  cut(): void {
    this.#isCut = true;
    this.dropAll();
  }

  heal(): void {
    this.#isCut = false;
    this.#delayMs = 0;
  }

  /** What is sent from now on takes so long, in the order in which it was sent; other links are not held up. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Ends the connections; new ones get through. */
  dropAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  stop(): void {
    this.cut();
    this.#server.close();
  }

  #accept(caller: Socket): void {
    if (this.#isCut) {
      caller.destroy();
      return;
    }
    const { to, from } = this.#options;
    const called = connect({ ...to, localAddress: from });
    this.#join(caller, called);
    this.#join(called, caller);
  }

  #join(source: Socket, target: Socket): void {
    this.#open.add(source);
    source.setNoDelay(true);
    let last = Promise.resolve();
    source.on("data", (bytes: Buffer) => {
      const delayMs = this.#delayMs;
      source.pause();
      last = last.then(async () => {
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (!target.destroyed) target.write(bytes);
        source.resume();
      });
    });
    source.on("error", () => {});
    source.on("close", () => {
      this.#open.delete(source);
      target.destroy();
    });
  }
}
