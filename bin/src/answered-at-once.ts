import { release, type, version } from "node:os";
import { configurationHelp } from "./configuration.ts";
import { type detachFlags, startDetached } from "./detach.ts";
import { formatGroups } from "./flag-groups.ts";
import type { FlagTable, Values } from "./flags.ts";
import { type serviceFlags, versionText } from "./service-flags.ts";

type Answered = Pick<Values<typeof serviceFlags & typeof detachFlags>, "help" | "version" | "detach"> & {
  readonly "os-version"?: boolean;
};

interface Service {
  /** The word in `anulo COMMAND`. */
  readonly command: string;
  /** Name of the service in messages. */
  readonly title: string;
  readonly table: FlagTable;
}

/** Handles --help, --version, --os-version and --detach; false if none of them is set, and the service should run. */
export function isAnsweredAtOnce(
  { command, title, table }: Service,
  flags: Answered,
  args: readonly string[],
): boolean {
  if (flags.help)
    process.stdout.write(`anulo ${command} [flags]\n\n${formatGroups(table)}\n\n${configurationHelp}\n`);
  else if (flags.version) process.stdout.write(versionText);
  else if (flags["os-version"]) process.stdout.write(`OS: ${type()} ${version()} ${release()}\n`);
  else if (flags.detach) process.stdout.write(`${title}: process ${startDetached(command, args)}\n`);
  else return false;
  return true;
}
