import { BadHex, fromHex } from "@anulo/protocol";
import type { Checkpoint } from "./checkpoints.ts";

/** The content of a file of checkpoints is invalid. */
export class BadCheckpoints extends Error {
  constructor(reason: string) {
    super(`bad checkpoint file: ${reason}`);
    this.name = "BadCheckpoints";
  }
}

/**
 * Parses checkpoints from the text of a JSON file, `{"hashlines": [{"height": 1, "hash": "…"}]}`, oldest first; throws
 * `BadCheckpoints`. Source: checkpoints.cpp `load_checkpoints_from_json`.
 */
export function parseCheckpoints(text: string): Checkpoint[] {
  const { hashlines } = jsonObject(text);
  if (hashlines === undefined) return [];
  if (!Array.isArray(hashlines)) throw new BadCheckpoints("hashlines is not a list");
  return hashlines.map(checkpointOfLine).sort((a, b) => a.height - b.height);
}

function jsonObject(text: string): { hashlines?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadCheckpoints("not JSON");
  }
  if (typeof value !== "object" || value === null) throw new BadCheckpoints("not an object");
  return value;
}

function checkpointOfLine(line: unknown, index: number): Checkpoint {
  const { height, hash } = (line ?? {}) as { height?: unknown; hash?: unknown };
  const isHeight = typeof height === "number" && Number.isSafeInteger(height) && height >= 0;
  if (!isHeight) throw new BadCheckpoints(`line ${index + 1} has no height`);
  return { height, id: hashOf(hash, index) };
}

function hashOf(hash: unknown, index: number): Uint8Array {
  try {
    if (typeof hash === "string") return fromHex(hash, 32);
  } catch (error) {
    if (!(error instanceof BadHex)) throw error;
  }
  throw new BadCheckpoints(`line ${index + 1} has no hash of 32 bytes`);
}
