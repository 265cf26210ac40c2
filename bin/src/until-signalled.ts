/**
 * Resolves when the process receives SIGTERM or SIGINT. To be called before anything is started: other programs may
 * find the service, and send a signal, as soon as its port is open.
 */
export function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}
