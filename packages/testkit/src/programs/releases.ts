import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * A release of the original programs: `installed` is the one on PATH (0.18.0.0 of Debian's stable suite), `today` the
 * one that `scripts/todays-programs.sh` lays out in the folder ANULO_TODAY_PROGRAMS names.
 */
export type Release = "installed" | "today";

const required = ["monerod", "monero-wallet-rpc"] as const;
/** Programs of the original, by the names of their files. */
export type OriginalProgram =
  | (typeof required)[number]
  | "monero-wallet-cli"
  | "monero-blockchain-import"
  | "monero-blockchain-export";

/** The path of a program, or its name where PATH says where it is. Throws if ANULO_TODAY_PROGRAMS is needed and unset. */
export function originalProgram(name: OriginalProgram, release: Release = "installed"): string {
  if (release === "installed") return name;
  const folder = process.env.ANULO_TODAY_PROGRAMS;
  if (folder === undefined) throw new Error(todayMissing);
  return join(folder, "bin", name);
}

/** The machine code of a program, and for today's, which needs the libraries beside it, a script that starts a copy. */
export type OriginalFile = { readonly file: string; readonly starterOf?: (copy: string) => string };

/** Where a program's machine code is. Throws where it is missing. */
export function originalFile(name: OriginalProgram, release: Release = "installed"): OriginalFile {
  if (release === "installed") {
    const file = onPath(name);
    if (file === undefined) throw new Error(`${name} is not installed`);
    return { file };
  }
  const path = originalProgram(name, release);
  const starter = readFileSync(path, "utf8");
  const named = new RegExp(`(['"])[^'"\\n]*/usr/bin/${name}\\1`);
  if (!named.test(starter)) throw new Error(`${path} does not say which program it starts`);
  return {
    file: join(dirname(dirname(path)), "root", "usr", "bin", name),
    starterOf: (copy) => starter.replace(named, () => `'${copy}'`),
  };
}

/** Why these releases cannot be run here, or undefined. Where the originals are required, throws if any is missing. */
export function realProgramsMissing(releases: readonly Release[] = ["installed"]): string | undefined {
  const isRequired = process.env.ANULO_REAL_PROGRAMS === "required";
  const reasons = (isRequired ? (["installed", "today"] as const) : releases).map(missingOf);
  const reason = reasons.find((it) => it !== undefined);
  if (reason !== undefined && isRequired) throw new Error(reason);
  return reason;
}

const todayMissing = "ANULO_TODAY_PROGRAMS names no folder (scripts/todays-programs.sh FOLDER lays it out)";

function missingOf(release: Release): string | undefined {
  if (release === "today" && process.env.ANULO_TODAY_PROGRAMS === undefined) return todayMissing;
  const missing = required.filter((name) => !isExecutable(originalProgram(name, release)));
  if (missing.length === 0) return undefined;
  if (release === "installed") return `not installed: ${missing.join(", ")} (Debian: apt-get install monero)`;
  return `not in bin/ of ANULO_TODAY_PROGRAMS: ${missing.join(", ")} (scripts/todays-programs.sh FOLDER)`;
}

/** The place of a program on PATH; undefined where it is not there. */
function onPath(name: string): string | undefined {
  const places = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return places.find(isFileToRun);
}

function isExecutable(program: string): boolean {
  return program.includes("/") ? isFileToRun(program) : onPath(program) !== undefined;
}

function isFileToRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
