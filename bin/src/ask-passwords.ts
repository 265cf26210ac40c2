import { BadUsage } from "./flags.ts";
import { readHidden } from "./read-hidden.ts";

/**
 * Prompts for the passwords of logins with only a user name. Source: rpc_args.cpp `process`, wallet2.cpp `make_basic`.
 */
const questions = {
  "rpc-login": "RPC server password: ",
  "daemon-login": "Daemon client password: ",
} as const;

type Name = keyof typeof questions;
type Logins = { readonly [N in Name]?: string | undefined } & { readonly "non-interactive": boolean };

/**
 * Returns the flags with the password of each login, and prompts for missing ones. Throws BadUsage if no password is
 * entered.
 */
export async function withPasswords<F extends Logins>(flags: F): Promise<F> {
  const complete: { [N in Name]?: string } = {};
  for (const name of Object.keys(questions) as Name[]) {
    const login = flags[name];
    if (login === undefined || login === "" || login.includes(":")) continue;
    const password = flags["non-interactive"] ? "" : await readHidden(questions[name]);
    if (password === "")
      throw new BadUsage(`--${name}: no password, neither in USER:PASSWORD nor when asked`);
    complete[name] = `${login}:${password}`;
  }
  return { ...flags, ...complete };
}
