import { readConsole } from "@anulo/console";
import type { Listener, Pages } from "@anulo/rpc";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { isLoopback } from "./rpc-flags.ts";

/** Whether the owner's port serves the console to browsers. */
export const consoleFlags = {
  console: {
    kind: "switch",
    help: "serve a console for browsers under /console; beyond this machine only with a login",
  },
} as const satisfies FlagTable;

/** The addresses of a service, and whether it requires a login. */
type Doors = { readonly listen: readonly Listener[]; readonly hasLogin: boolean };

/** The console's files, or undefined if it is not enabled. Throws BadUsage if no port may serve them. */
export function pagesOf(flags: Values<typeof consoleFlags>, { listen, hasLogin }: Doors): Pages | undefined {
  if (!flags.console) return undefined;
  const owners = listen.filter(({ restricted }) => !restricted);
  if (owners.length === 0)
    throw new BadUsage("--console is not served on restricted ports, and there is no other");
  const open = owners.find(({ host }) => !isLoopback(host));
  if (open !== undefined && !hasLogin)
    throw new BadUsage(`--console on ${open.host}, which others can reach, needs --rpc-login`);
  return readConsole();
}
