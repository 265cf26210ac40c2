import { BadRequest } from "../errors.ts";
import { list, object, optional } from "../schema/composites.ts";
import { packedUints } from "../schema/packed.ts";
import { flag, rawBytes, u64, uint } from "../schema/scalars.ts";
import { putValue, type Schema } from "../schema/schema.ts";
import { serialized, Written } from "../schema/written.ts";
import { compressInto, MAX_COMPRESSED_BYTES } from "./serialize-counts.ts";

/**
 * Outputs of one amount per block from `start_height` on; `base` were there before. `binary` packs the numbers
 * (64 bits each) into a byte string, `compress` as well writes each in 7-bit groups.
 */
export type OutputDistribution = {
  readonly amount: bigint;
  readonly base: number;
  readonly binary: boolean;
  readonly compress: boolean;
  readonly distribution: readonly number[];
  readonly start_height: number;
};

/** The same with its numbers written already. */
export type SerializedDistribution = Omit<OutputDistribution, "distribution"> & {
  readonly distribution: Written;
};

type Response = OutputDistribution | SerializedDistribution;

const common = { amount: u64, base: uint, binary: flag, compress: flag, start_height: uint };
const plainForm = object({ ...common, distribution: serialized(list(uint)) });
const packedForm = object({ ...common, distribution: serialized(packedUints) });
const compressedForm = object({ ...common, compressed_data: serialized(rawBytes) });
const anyForm = object({ ...common, compressed_data: optional(rawBytes) });

/** The compressed form of a response. */
function compressedOf({ distribution, ...rest }: Response) {
  const compressed_data = distribution instanceof Written ? distribution : compress(distribution);
  return { ...rest, compressed_data };
}

/** Entry of `get_output_distribution`. Source: core_rpc_server_commands_defs.h `distribution`. */
export const outputDistribution: Schema<OutputDistribution, Response, false> = {
  kind: "object",
  omittable: false,
  presence: "always",
  absent: () => undefined,
  absentInAnswer: false,
  read: (value, reading) => {
    const { binary, compressed_data } = anyForm.read(value, reading);
    if (!binary) return plainForm.read(value, reading);
    if (compressed_data === undefined) return packedForm.read(value, reading);
    const { compressed_data: packed, ...rest } = compressedForm.read(value, reading);
    return { ...rest, distribution: decompress(packed) };
  },
  write: (value, dialect, indent) => {
    if (!value.binary) return plainForm.write(value, dialect, indent);
    if (!value.compress) return packedForm.write(value, dialect, indent);
    return compressedForm.write(compressedOf(value), dialect, indent);
  },
  put: (value, out, indent) => {
    if (!value.binary) putValue(plainForm, value, out, indent);
    else if (!value.compress) putValue(packedForm, value, out, indent);
    else putValue(compressedForm, compressedOf(value), out, indent);
  },
  readPortable: (entry, reading) => {
    const { binary, compressed_data } = anyForm.readPortable(entry, reading);
    if (!binary) return plainForm.readPortable(entry, reading);
    if (compressed_data === undefined) return packedForm.readPortable(entry, reading);
    const { compressed_data: packed, ...rest } = compressedForm.readPortable(entry, reading);
    return { ...rest, distribution: decompress(packed) };
  },
  writePortable: (value) => {
    if (!value.binary) return plainForm.writePortable(value);
    if (!value.compress) return packedForm.writePortable(value);
    return compressedForm.writePortable(compressedOf(value));
  },
  isEmpty: () => false,
  describe: plainForm.describe,
};

function compress(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(MAX_COMPRESSED_BYTES * values.length);
  return bytes.slice(0, compressInto(bytes, values));
}

function decompress(bytes: Uint8Array): number[] {
  const values: number[] = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    if (!Number.isSafeInteger(value)) throw new BadRequest("above 2^53-1");
    if (byte >= 0x80) {
      scale *= 0x80;
      continue;
    }
    values.push(value);
    value = 0;
    scale = 1;
  }
  if (scale !== 1) throw new BadRequest("cut short");
  return values;
}
