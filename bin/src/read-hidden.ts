import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** Reads a line from the terminal (or from standard input) without echo. */
export async function readHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_bytes, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: nowhere,
    terminal: process.stdin.isTTY === true,
  });
  try {
    return await new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
    });
  } finally {
    lines.close();
    process.stdin.unref?.();
    process.stderr.write("\n");
  }
}
