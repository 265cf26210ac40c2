/** Starts PostgreSQL servers for tests, each in a temporary folder, reached by a socket in it. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { temporaryFolder } from "./harness.ts";

const DEBIAN_FOLDER = "/usr/lib/postgresql";
const START_PAUSE_MS = 50;
const START_PAUSES = 600;
const CONNECT_TIMEOUT_MS = 10_000;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder with the server's programs, which Debian leaves off the path; undefined where there is none. */
function programFolder(): string | undefined {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).sort().reverse() : [];
  const folders = [...versions.map((version) => join(DEBIAN_FOLDER, version, "bin"))];
  folders.push(...(process.env.PATH ?? "").split(delimiter));
  return folders.find((folder) => isProgram(join(folder, "initdb")) && isProgram(join(folder, "postgres")));
}

/** Why no server can be started here, or undefined. Throws where the real programs are required. */
export function postgresMissing(): string | undefined {
  if (programFolder() !== undefined) return undefined;
  const reason = "PostgreSQL is not installed (Debian: apt-get install postgresql)";
  if (process.env.ANULO_REAL_PROGRAMS === "required") throw new Error(reason);
  return reason;
}

/** PostgreSQL refuses to run as root: it is given to the first of these users. */
const servants = ["postgres", "nobody"];

function idOf(user: string, what: "-u" | "-g"): number | undefined {
  try {
    return Number(
      execFileSync("id", [what, user], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    );
  } catch {
    return undefined;
  }
}

/** Who runs the server, where it is not whoever runs the tests. */
function servantOf(folder: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = servants.find((name) => idOf(name, "-u") !== undefined);
  if (user === undefined)
    throw new Error(`root may not run PostgreSQL, and there is no ${servants.join(" or ")}`);
  const [uid, gid] = [idOf(user, "-u")!, idOf(user, "-g")!];
  chownSync(folder, uid, gid);
  return { uid, gid };
}

export interface PostgresServer {
  /** Address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Ends it as a loss of power would end it, but for what the operating system has. */
  kill(): Promise<void>;
  /** Starts it again where it was killed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const programs = programFolder();
  if (programs === undefined) throw new Error(postgresMissing());
  const { folder, remove } = temporaryFolder();
  const identity = servantOf(folder);
  const run = (name: string, args: readonly string[]) =>
    spawn(join(programs, name), args, { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const data = join(folder, "data");
  const addressOf = (name: string) => `postgres://anulo@/${name}?host=${encodeURIComponent(folder)}`;
  const initialised = run("initdb", [
    "-D",
    data,
    "-U",
    "anulo",
    "--auth=trust",
    "--no-sync",
    "--encoding=UTF8",
    "--locale=C",
  ]);
  initialised.stderr?.resume();
  const [code] = await once(initialised, "exit");
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  let server: ChildProcess | undefined;
  let databases = 0;

  const isReady = async () => {
    const client = new pg.Client({
      connectionString: addressOf("postgres"),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  };
  /** Backends of a killed server may take a moment to notice: until then a new one refuses to start. */
  const start = async () => {
    let said = "";
    for (let pause = 0; pause < START_PAUSES; pause++) {
      if (server === undefined || hasEnded(server)) {
        server = run("postgres", ["-D", data, "-k", folder, "-h", "", "-c", "max_connections=50"]);
        server.stderr?.on("data", (text: Buffer) => {
          said = text.toString();
        });
      }
      if (await isReady()) return;
      await setTimeout(START_PAUSE_MS);
    }
    throw new Error(`PostgreSQL does not start: ${said}`);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (server === undefined) return;
    const ended = hasEnded(server) ? undefined : once(server, "exit");
    server.kill(signal);
    await ended;
    server = undefined;
  };
  await start();
  return {
    async createDatabase() {
      const name = `store${++databases}`;
      const client = new pg.Client({ connectionString: addressOf("postgres") });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return addressOf(name);
    },
    kill: () => end("SIGKILL"),
    start,
    async stop() {
      await end("SIGINT");
      remove();
    },
  };
}
