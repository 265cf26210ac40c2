/**
 * Loaded into a program under test: at the first SIGUSR2 every sealing of bytes fails with the system's own words, at
 * the second an error nobody catches ends the program.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { createCipheriv } = crypto;

function breakSealing(): void {
  const broken = (algorithm: string, key: Uint8Array, nonce: Uint8Array, options: object) =>
    createCipheriv(algorithm as "chacha20-poly1305", key.subarray(1), nonce, options as never);
  crypto.createCipheriv = broken as unknown as typeof createCipheriv;
  syncBuiltinESMExports();
}

function endByBug(): void {
  throw new TypeError("broken by the test, uncaught");
}

if (isMainThread) {
  process.once("SIGUSR2", () => {
    breakSealing();
    process.once("SIGUSR2", endByBug);
  });
}
