/** The folder in which a service keeps its tokens: open in one service at a time. */
import { link, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WalletRefusal } from "../refusal.ts";
import { syncDirectory } from "./journal.ts";
import { LineFile } from "./line-file.ts";
import { replaceFile } from "./replace-file.ts";
import { exists } from "./wallet-files.ts";
import { takeLock } from "./wallet-lock.ts";

export type AccessFolder = {
  /** The tokens as they were stored; undefined if none were ever stored. */
  readonly tokens: string | undefined;
  /** What tokens have spent, one record per line. */
  readonly spent: LineFile;
  /** Stores the tokens durably. */
  keepTokens(text: string): Promise<void>;
  close(): Promise<void>;
};

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", `Tokens can't be kept: ${why}`);

/** Opens the folder, or creates it. Throws `WalletRefusal`, also if another service has it open. */
export async function openAccessFolder(path: string): Promise<AccessFolder> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const unlock = await takeLock(join(path, "lock"));
    try {
      const tokensFile = join(path, "tokens");
      const spent = await LineFile.open(join(path, "spent"));
      return {
        tokens: await readIfThere(tokensFile),
        spent,
        keepTokens: (text) => replaceFile(tokensFile, text),
        close: async () => {
          await spent.close();
          await unlock();
        },
      };
    } catch (error) {
      await unlock();
      throw error;
    }
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A file with a token, which only its owner can read. It gets its name once the token is stored. */
export class TokenFile {
  readonly #path: string;
  readonly #prepared: string;

  constructor(path: string) {
    this.#path = path;
    this.#prepared = `${path}.new`;
  }

  /** Writes the token under another name. Throws `WalletRefusal`, also if the file exists already. */
  async prepare(token: string): Promise<void> {
    try {
      if (await exists(this.#path)) throw new Error(`${this.#path} is there already`);
      await replaceFile(this.#prepared, `${token}\n`);
    } catch (error) {
      throw refuse((error as Error).message);
    }
  }

  /** The token that was written under the other name; undefined if there is none. */
  async readPrepared(): Promise<string | undefined> {
    return (await readIfThere(this.#prepared))?.trim();
  }

  /** Gives the prepared file its name, durably. Throws `WalletRefusal`, also if the file exists already. */
  async publish(): Promise<void> {
    try {
      await link(this.#prepared, this.#path);
      await rm(this.#prepared);
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
      throw refuse(isThere ? `${this.#path} is there already` : (error as Error).message);
    }
  }
}
