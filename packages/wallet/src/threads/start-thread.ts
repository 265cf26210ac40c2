/** How threads are started: as workers, or as jobs of the caller's own thread. */
import { once } from "node:events";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";

/** A thread that receives messages and sends some back. */
export type Thread = Pick<Worker, "postMessage" | "ref" | "unref" | "terminate"> & {
  // biome-ignore lint/suspicious/noExplicitAny: a listener knows what its thread sends.
  on(event: "message", listener: (message: any) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
};

/** Receives the messages of a port, and sends back by it. */
export type Serve = (port: MessagePort) => void;

/**
 * Does in the caller's thread what a worker would do: messages are copied as between threads, but nothing is loaded and
 * compiled once more. The caller's event loop stands still during each job.
 */
export function startHere(load: () => Promise<Serve>): Thread {
  const { port1: near, port2: far } = new MessageChannel();
  // Messages wait in the port until then.
  const loaded = load().then((serve) => {
    serve(far);
    far.unref();
  });
  return {
    postMessage: (message, transfer) => near.postMessage(message, transfer as never),
    ref: () => near.ref(),
    unref: () => near.unref(),
    on(event, listener) {
      if (event === "error") loaded.catch(listener);
      else near.on(event === "exit" ? "close" : "message", listener as () => void);
    },
    async terminate() {
      const closed = once(near, "close");
      near.close();
      await closed;
      return 0;
    },
  };
}
