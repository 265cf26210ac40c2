import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  BadUsage,
  type FlagTable,
  type Given,
  readWords,
  suggestion,
  type Values,
  valuesOf,
} from "./flags.ts";
import { readTextFile } from "./text-file.ts";

/**
 * Files that are read by default. The services have different files: each would find unknown flags, or ports in use, in
 * the other's.
 */
const defaultFiles = { node: "anulo.conf", wallet: "wallet.conf" } as const;

type Service = keyof typeof defaultFiles;

/** The flag that names another configuration file. */
export function configurationFlag(service: Service) {
  const help = `more flags, as lines NAME=VALUE (~/.anulo/${defaultFiles[service]})`;
  return { "config-file": { kind: "text", value: "FILE", help } } as const satisfies FlagTable;
}

/** Printed at the end of a command's help. */
export const configurationHelp =
  "Every flag can also stand in the configuration file, or in the environment as ANULO_NAME\n" +
  "(ANULO_RPC_BIND_PORT=18081). The command line comes first, then the environment, then the file.";

/** Printed at the end of the help of commands that read no file. */
export const environmentHelp =
  "Every flag can also stand in the environment as ANULO_NAME (ANULO_DATA_DIR=/srv/anulo); the command line comes first.";

/**
 * The flags of the command line, otherwise of the environment, otherwise of the configuration file. Throws BadUsage,
 * also if a file that was named does not exist.
 */
export function readConfiguration<T extends FlagTable>(
  service: Service,
  table: T,
  args: readonly string[],
): Values<T> {
  const words = readWords(table, args);
  const environment = fromEnvironment(table, process.env);
  const named = (words.get("config-file") ?? environment.get("config-file"))?.at(-1);
  const file = named ?? join(homedir(), ".anulo", defaultFiles[service]);
  if (named === undefined && !existsSync(file)) return valuesOf(table, [words, environment]);
  return valuesOf(table, [words, environment, fromFile(table, readTextFile("config-file", file), file)]);
}

/** `ANULO_NAME` for `--name`, and the variables that the original programs read. Source: rpc_args.cpp `process`. */
export function fromEnvironment(
  table: FlagTable,
  environment: Readonly<Record<string, string | undefined>>,
): Given {
  const values = new Map<string, readonly string[]>();
  const take = (name: string, variable: string) => {
    const text = environment[variable];
    if (text !== undefined && text !== "") values.set(name, [text]);
  };
  if ("rpc-login" in table) take("rpc-login", "RPC_LOGIN");
  for (const name of Object.keys(table)) take(name, variableOf(name));
  return values;
}

/** Variables of ours that do not correspond to a flag. */
const otherVariables = new Set(["ANULO_CRYPTO"]);

/** Variables `ANULO_NAME` without a flag in the table, each with a suggestion; never their values. */
export function unknownVariables(
  table: FlagTable,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const variables = new Set(Object.keys(table).map(variableOf));
  const unknown = Object.keys(environment).filter(
    (variable) => /^ANULO_/.test(variable) && !variables.has(variable) && !otherVariables.has(variable),
  );
  return unknown.map((variable) => {
    const name = variable
      .replace(/^ANULO_/, "")
      .toLowerCase()
      .replaceAll("_", "-");
    return `${variable}${suggestion(table, name)}`;
  });
}

const variableOf = (name: string) => `ANULO_${name.toUpperCase().replaceAll("-", "_")}`;

/** Parses lines `name=value`; `#` begins a comment, a switch needs no value. Throws BadUsage with the line's number. */
export function fromFile(table: FlagTable, text: string, file: string): Given {
  const values = new Map<string, readonly string[]>();
  for (const [index, line] of text.split("\n").entries()) {
    const content = line.replace(/(^|\s)#.*$/, "").trim();
    if (content === "") continue;
    const [, name = "", value] = /^([^=\s]*)(?:\s*=\s*(.*))?$/s.exec(content) ?? [];
    const flag = table[name];
    const where = `${file}:${index + 1}`;
    if (flag === undefined) throw new BadUsage(`${where}: unknown flag ${name}${suggestion(table, name)}`);
    if (value === undefined && flag.kind !== "switch") throw new BadUsage(`${where}: ${name} needs a value`);
    values.set(name, [...(values.get(name) ?? []), value ?? "true"]);
  }
  return values;
}
