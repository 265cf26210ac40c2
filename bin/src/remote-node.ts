import { networks } from "@anulo/protocol";
import { BadAnswer, ConnectionFailed, createClient, daemonMethods, RemoteError } from "@anulo/rpc";
import { withPasswords } from "./ask-passwords.ts";
import { chainPlaceOf } from "./chain-flags.ts";
import { readConfiguration } from "./configuration.ts";
import { BadUsage } from "./flags.ts";
import { nodeFlags } from "./node.ts";
import { remoteCommands } from "./remote-commands.ts";
import { checkPort, parseLogin } from "./service-flags.ts";

/** Maximum response size: a block of maximum size, as text and as JSON. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The help of the remote commands, one line each. */
export function remoteHelp(): string {
  const lines = Object.entries(remoteCommands).map(([name, { words, help }]) => [`${name} ${words}`, help]);
  const width = Math.max(...lines.map(([term = ""]) => term.length));
  return lines.map(([term = "", help]) => `  ${term.padEnd(width + 2)}${help}`).join("\n");
}

/** Where a service is reached that listens on that address: one that listens everywhere, on this machine. */
export function urlOf(host: string, port: number): string {
  const name = host.replace(/^\[(.*)\]$/, "$1");
  if (!name.includes(":")) return `http://${name === "0.0.0.0" ? "127.0.0.1" : name}:${port}`;
  return `http://[${/^[0:]+$/.test(name) ? "::1" : name}]:${port}`;
}

/** What others wrote, without what a terminal takes for orders. */
export function forTerminal(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\0-\x09\x0b-\x1f\x7f-\x9f]/g, "\ufffd");
}

/**
 * `anulo node COMMAND`: sends a command to a running node over its RPC, which is found by the flags, environment and
 * configuration file that it was started with, as far as they concern its RPC. Throws BadUsage.
 */
export async function runRemote(name: string, rest: readonly string[]): Promise<void> {
  const command = Object.hasOwn(remoteCommands, name) ? remoteCommands[name] : undefined;
  if (command === undefined) throw new BadUsage(`unknown command: node ${name}\n\n${remoteHelp()}`);
  const end = rest.findIndex((word) => word.startsWith("--"));
  const words = end === -1 ? rest : rest.slice(0, end);
  const flags = await withPasswords(readConfiguration("node", nodeFlags, end === -1 ? [] : rest.slice(end)));
  const [least, most] = command.count;
  if (words.length < least || words.length > most)
    throw new BadUsage(`anulo node ${name} ${command.words}`.trimEnd());
  const { network } = chainPlaceOf(flags);
  const port = checkPort("rpc-bind-port", flags["rpc-bind-port"] ?? networks[network].ports.rpc);
  const host = flags["rpc-bind-ip"] ?? "127.0.0.1";
  const url = urlOf(host, port);
  const login = flags["rpc-login"];
  const node = createClient(daemonMethods, url, {
    maxAnswerBytes: () => MAX_ANSWER_BYTES,
    ...(login !== undefined && { login: parseLogin(login) }),
  });
  try {
    process.stdout.write(`${forTerminal(await command.run(node, words))}\n`);
  } catch (error) {
    if (error instanceof ConnectionFailed) throw new BadUsage(`no node answers at ${url}`);
    if (error instanceof RemoteError || error instanceof BadAnswer)
      throw new BadUsage(`the node refused: ${forTerminal(error.message)}`);
    if (error instanceof BadUsage) throw new BadUsage(forTerminal(error.message));
    throw error;
  } finally {
    node.close();
  }
}
