import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between a caller and a service, and cuts the line after a number of bytes. */
export class Cutter {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** Port of 127.0.0.1 that new connections lead to. */
  target = 0;
  /** Bytes that still pass, in both directions together; undefined: all do. */
  #remaining: number | undefined;

  private constructor() {
    this.#server = createServer((caller) => this.#accept(caller));
  }

  static async start(target = 0): Promise<Cutter> {
    const cutter = new Cutter();
    cutter.target = target;
    await new Promise<void>((resolve) => cutter.#server.listen(0, "127.0.0.1", resolve));
    return cutter;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Once so many bytes have passed, all connections end; those made afterwards get through. */
  cutAfter(bytes: number): void {
    this.#remaining = bytes;
  }

  /** Whatever was to be cut gets through. */
  spare(): void {
    this.#remaining = undefined;
  }

  stop(): void {
    this.#dropAll();
    this.#server.close();
  }

  #dropAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #accept(caller: Socket): void {
    const called = connect({ host: "127.0.0.1", port: this.target });
    this.#join(caller, called);
    this.#join(called, caller);
  }

  #join(source: Socket, target: Socket): void {
    this.#open.add(source);
    source.setNoDelay(true);
    source.on("data", (bytes: Buffer) => {
      if (this.#remaining === undefined || bytes.length < this.#remaining) {
        if (this.#remaining !== undefined) this.#remaining -= bytes.length;
        target.write(bytes);
        return;
      }
      const passing = bytes.subarray(0, this.#remaining);
      this.#remaining = undefined;
      target.write(passing, () => this.#dropAll());
    });
    source.on("error", () => {});
    source.on("close", () => {
      this.#open.delete(source);
      target.destroy();
    });
  }
}
