import { readFileSync, writeFileSync } from "node:fs";
import { type HardFork, networks } from "@anulo/protocol";
import { originalFile, type Release } from "./releases.ts";

/** `mov qword [rax + offset], value`: how the original fills its tables of hard forks when it starts. */
function storeInstruction(offset: number, value: number): Buffer {
  const short = offset < 0x80;
  const code = Buffer.alloc(short ? 8 : 11);
  code.set([0x48, 0xc7, short ? 0x40 : 0x80]);
  if (short) code.writeUInt8(offset, 3);
  else code.writeInt32LE(offset, 3);
  code.writeInt32LE(value, code.length - 4);
  return code;
}

/** Bytes of a row in that table: version, height, threshold and time, eight bytes each. */
const rowBytes = 32;
const heightOffset = 8;

/**
 * Writes what starts a copy of monerod to `path`, and the copy beside it, with the hard forks of its stagenet at other
 * heights, so that a short private chain lives through every era. `heights` has one for each version from 2 on,
 * ascending. Throws where the program keeps its tables otherwise than 0.18.0.0 and 0.18.5.3 of Debian do.
 */
export function writeMonerodWithForks(path: string, heights: readonly number[], release?: Release): void {
  const { file, starterOf } = originalFile("monerod", release);
  const program = readFileSync(file);
  const forks = networks.stagenet.hardForks.slice(1);
  if (heights.length !== forks.length) throw new Error(`${forks.length} heights are needed`);
  for (const [i, fork] of forks.entries()) {
    const offset = (i + 1) * rowBytes + heightOffset;
    const at = onlyPlaceOf(storeInstruction(offset, fork.height), program, fork);
    storeInstruction(offset, heights[i]!).copy(program, at);
  }
  const copy = starterOf === undefined ? path : `${path}.program`;
  writeFileSync(copy, program, { mode: 0o755 });
  if (starterOf !== undefined) writeFileSync(path, starterOf(copy), { mode: 0o755 });
}

function onlyPlaceOf(code: Buffer, program: Buffer, { version }: HardFork): number {
  const at = program.indexOf(code);
  if (at < 0 || program.indexOf(code, at + 1) >= 0) {
    throw new Error(`this monerod does not keep its hard fork ${version} where those known do`);
  }
  return at;
}
