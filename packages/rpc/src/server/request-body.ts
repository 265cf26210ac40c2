import type { IncomingMessage } from "node:http";

const empty = Buffer.alloc(0);

/** Reads a body of at most `maxBytes`; `gone` when the caller left. A body that is too large is not read. */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | "too large" | "gone"> {
  if (Number(message.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    message.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) {
        message.pause();
        resolve("too large");
        return;
      }
      parts.push(part);
    });
    message.on("end", () => resolve(joined(parts)));
    message.on("error", () => resolve("gone"));
    message.on("close", () => resolve("gone"));
  });
}

function joined(parts: readonly Buffer[]): Buffer {
  if (parts.length === 0) return empty;
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
