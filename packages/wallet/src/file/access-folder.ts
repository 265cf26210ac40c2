/** The folder in which a service keeps its tokens: open in one service at a time. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { WalletRefusal } from "../refusal.ts";
import { LineFile } from "./line-file.ts";
import { makeFile, replaceFile } from "./replace-file.ts";
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

/** Writes a token to a file that only its owner can read. Throws `WalletRefusal`, also if the file exists. */
export async function writeTokenFile(path: string, token: string): Promise<void> {
  try {
    await makeFile(path, `${token}\n`);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw refuse(isThere ? `${path} is there already` : (error as Error).message);
  }
}
