/**
 * An append-only file of lines, each preceded by its CRC-32: a line is on disk before `append` resolves. A truncated
 * last line is dropped, since it was never acknowledged.
 */
import { type FileHandle, open, readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { replaceFile } from "./replace-file.ts";

const CRC_DIGITS = 8;

const framed = (line: string): string => `${crcOf(line)} ${line}\n`;

const crcOf = (line: string): string => crc32(line).toString(16).padStart(CRC_DIGITS, "0");

function readFramed(text: string, number: number): string {
  const line = text.slice(CRC_DIGITS + 1);
  if (text.slice(0, CRC_DIGITS + 1) !== `${crcOf(line)} `) throw new Error(`line ${number} is damaged`);
  return line;
}

export class LineFile {
  readonly path: string;
  /** The lines at the time the file was opened. */
  readonly lines: readonly string[];
  #file: FileHandle;

  private constructor(path: string, file: FileHandle, lines: readonly string[]) {
    this.path = path;
    this.#file = file;
    this.lines = lines;
  }

  /** Reads all lines. Throws if one of them was changed, and errors of the file system. */
  static async open(path: string): Promise<LineFile> {
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    const whole = text?.slice(0, text.lastIndexOf("\n") + 1) ?? "";
    if (whole !== text) await replaceFile(path, whole);
    const lines = whole
      .split("\n")
      .slice(0, -1)
      .map((line, i) => readFramed(line, i + 1));
    return new LineFile(path, await open(path, "a", 0o600), lines);
  }

  /**
   * Appends a line (without line ends) durably. Throws errors of the file system; the content of the file is then
   * unknown.
   */
  async append(line: string): Promise<void> {
    await this.#file.appendFile(framed(line));
    await this.#file.datasync();
  }

  /** Replaces all lines, in one step. */
  async replace(lines: readonly string[]): Promise<void> {
    await replaceFile(this.path, lines.map(framed).join(""));
    const old = this.#file;
    this.#file = await open(this.path, "a", 0o600);
    await old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
