import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { BadSource } from "./chain-source.ts";

/** A file of another program, open for reading only. */
export interface SourceBytes {
  readonly path: string;
  /** Current size of the file in bytes. */
  size(): number;
  /** Reads bytes from an offset, into new memory; throws BadSource if the file has fewer. */
  read(offset: number, length: number): Buffer;
  close(): void;
}

/**
 * Opens a file; throws BadSource if it is no regular file: a pipe would wait for its writer, a device has no end.
 * Errors of the system are not changed.
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
      // A 64-bit number in the file may be an offset that no file can have.
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
