import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** Paths of the original programs. */
export type OriginalPaths = { readonly node: string; readonly wallet: string };

const NAMES = { node: "monerod", wallet: "monero-wallet-rpc" } as const;

/** Finds monerod and monero-wallet-rpc in a folder or its `bin`, or on PATH. Throws an Error where one is missing. */
export function findOriginals(folder?: string): OriginalPaths {
  const places =
    folder === undefined ? (process.env.PATH ?? "").split(delimiter) : [folder, join(folder, "bin")];
  const find = (name: string): string => {
    const found = places.map((place) => join(place, name)).find(isProgram);
    if (found === undefined)
      throw new Error(`${name} is not ${folder === undefined ? "on PATH" : `in ${folder}`}`);
    return found;
  };
  return { node: find(NAMES.node), wallet: find(NAMES.wallet) };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether a program's help names a flag: releases differ. */
export async function knowsFlag(program: string, flag: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)(program, ["--help"], { maxBuffer: 1 << 20 });
  return stdout.includes(flag);
}
