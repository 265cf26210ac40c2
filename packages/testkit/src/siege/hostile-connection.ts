import type { Socket } from "node:net";

/** A connection to the besieged node that sends whatever bytes it likes. */
export abstract class HostileConnection {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  isClosed = false;
  /** True where we hung up, not the node. */
  hasLeft = false;
  bytesReceived = 0;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      this.bytesReceived += bytes.length;
      this.receive(bytes);
    });
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** Takes what the node sent. */
  protected abstract receive(bytes: Buffer): void;

  /** Sends bytes and waits until the system has taken them; false once the connection is closed. */
  async send(bytes: Uint8Array | string): Promise<boolean> {
    if (this.isClosed) return false;
    if (this.socket.write(bytes)) {
      // Lets what arrives be read, also in a flood that is never held up.
      await new Promise((resolve) => setImmediate(resolve));
    } else {
      const drained = new Promise<void>((resolve) => this.socket.once("drain", resolve));
      await Promise.race([drained, this.closed]);
    }
    return !this.isClosed;
  }

  /** Reads nothing from now on: what the node sends stays with it. */
  stopReading(): void {
    this.socket.pause();
  }

  leave(): void {
    this.hasLeft ||= !this.isClosed;
    this.socket.destroy();
  }
}
