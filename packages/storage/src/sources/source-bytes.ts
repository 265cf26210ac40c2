import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { BadSource } from "./chain-source.ts";

/** A stranger's file, open for reading alone. */
export interface SourceBytes {
  readonly path: string;
  /** Bytes of the file, as of now. */
  size(): number;
  /** Bytes from an offset on, in new memory; throws BadSource where the file has fewer. */
  read(offset: number, length: number): Buffer;
  close(): void;
}

/**
 * Opens a file; throws BadSource for what is none: a pipe would wait for its writer, a device has no end.
 * Errors of the system pass.
 */
export function openSource(path: string): SourceBytes {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!fstatSync(file).isFile()) {
    closeSync(file);
    throw new BadSource(path, "is no file");
  }
  return {
    path,
    size: () => fstatSync(file).size,
    read(offset, length) {
      // A number of 64 bits in the file may stand for a place that no file has.
      if (!Number.isSafeInteger(offset + length)) throw new BadSource(path, `the file ends before ${offset}`);
      const bytes = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const count = readSync(file, bytes, filled, length - filled, offset + filled);
        if (count === 0)
          throw new BadSource(path, `the file ends at ${offset + filled}, inside what begins at ${offset}`);
        filled += count;
      }
      return bytes;
    },
    close: () => closeSync(file),
  };
}
