/** A PostgreSQL server of its own for services under test, in a temporary folder, reached by a socket in it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";

const DEBIAN_FOLDER = "/usr/lib/postgresql";
const USER = "anulo";
const READY_MS = 120_000;
/** For a line of each row of some thousand wallets. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** The folder of the newest server's programs, which Debian leaves off the path. */
function programFolder(): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).sort().reverse() : [];
  return versions
    .map((version) => join(DEBIAN_FOLDER, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
}

/** Why no server can be started here, or undefined. Throws where the real programs are required. */
export function postgresMissing(): string | undefined {
  if (programFolder() !== undefined) return undefined;
  const reason = "PostgreSQL is not installed (Debian: apt-get install postgresql)";
  if (process.env.ANULO_REAL_PROGRAMS === "required") throw new Error(reason);
  return reason;
}

/** PostgreSQL refuses to run as root: it is given to the user that Debian makes for it. */
function servantOf(folder: string): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: string) => Number(execFileSync("id", [what, "postgres"], { encoding: "utf8" }));
  const servant = { uid: idOf("-u"), gid: idOf("-g") };
  chownSync(folder, servant.uid, servant.gid);
  return servant;
}

export type RunningPostgres = {
  /** Address of its database. */
  readonly address: string;
  /** The rows of a statement, columns with `|` between them. */
  query(text: string): string[];
  stop(): Promise<void>;
};

/** Starts a server with an empty database. */
export async function startPostgres(): Promise<RunningPostgres> {
  const programs = programFolder();
  if (programs === undefined) throw new Error(postgresMissing());
  const folder = mkdtempSync(join(tmpdir(), "anulo-postgres-"));
  const servant = servantOf(folder);
  const data = join(folder, "data");
  const run = (name: string, args: readonly string[], input = "") =>
    execFileSync(join(programs, name), args, {
      ...servant,
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
      input,
      maxBuffer: MAX_OUTPUT_BYTES,
    });
  run("initdb", ["-D", data, "-U", USER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]);
  const args = ["-D", data, "-k", folder, "-h", "", "-c", "max_connections=100"];
  const server = spawn(join(programs, "postgres"), args, { ...servant, cwd: folder, stdio: "ignore" });
  const stop = async () => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  const query = (text: string) =>
    run("psql", ["-h", folder, "-U", USER, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atq"], text)
      .split("\n")
      .filter(Boolean);
  const isReady = async () => {
    try {
      return query("SELECT 1")[0] === "1";
    } catch {
      return false;
    }
  };
  if (!(await until(isReady, READY_MS))) {
    await stop();
    throw new Error("PostgreSQL does not start");
  }
  return { address: `postgres://${USER}@/postgres?host=${encodeURIComponent(folder)}`, query, stop };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGINT");
  await ended;
}
