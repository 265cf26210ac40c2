/** How threads are started: as workers, or as jobs of the caller's own thread. */
import { EventEmitter, once } from "node:events";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";

/** A thread that receives messages and sends some back: emits `message`, `error` and `exit`. */
export type Thread = EventEmitter & Pick<Worker, "postMessage" | "ref" | "unref" | "terminate">;

/** Receives the messages of a port, and sends back by it. */
export type Serve = (port: MessagePort) => void;

/**
 * Does in the caller's thread what a worker would do: messages are copied as between threads, but nothing is loaded and
 * compiled once more. The caller's event loop stands still during each job.
 */
export function startHere(load: () => Promise<Serve>): Thread {
  const { port1: near, port2: far } = new MessageChannel();
  const events = new EventEmitter();
  near.on("message", (message) => events.emit("message", message));
  near.once("close", () => events.emit("exit", 0));
  // Messages wait in the port until then.
  void load().then(
    (serve) => {
      serve(far);
      far.unref();
    },
    (error) => events.emit("error", error),
  );
  return Object.assign(events, {
    postMessage: (message: unknown, transfer?: readonly ArrayBuffer[]) =>
      near.postMessage(message, transfer as never),
    ref: () => near.ref(),
    unref: () => near.unref(),
    async terminate() {
      const closed = once(near, "close");
      near.close();
      await closed;
      return 0;
    },
  });
}
