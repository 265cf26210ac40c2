import { type Engine, openLmdbEngine, openPostgresEngine } from "../src/index.ts";

/** The engine at a file's path or a database's address. */
export async function openEngine(where: string): Promise<Engine> {
  return where.startsWith("postgres:") ? await openPostgresEngine(where) : openLmdbEngine(where);
}
