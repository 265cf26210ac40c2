/** Resolves when the process is asked to end (SIGTERM, SIGINT, or an RPC that says so). */
export async function untilStopped(asked: Promise<unknown>): Promise<void> {
  const signal = new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  await Promise.race([signal, asked]);
}
