/**
 * Resolves when the process is asked to end (SIGTERM, SIGINT). To be called before anything is started: a service
 * may be found, and its process signalled, the moment its port is open.
 */
export function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}
