/** Serialization of outputs. */
import type { Plain } from "../cbor.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";

/** `replaces`: the outputs that it replaced, newest first; earlier versions wrote each one nested in the one before. */
type OutputRecord = Omit<OwnedOutput, "replaces"> & {
  readonly replaces: readonly OutputRecord[] | OwnedOutput | undefined;
};

/** A flat list, not nested records: an attacker may send any number of payments that replace one another. */
export function recordOf(output: OwnedOutput): Plain {
  const replaced: OutputRecord[] = [];
  for (let older = output.replaces; older !== undefined; older = older.replaces)
    replaced.push({ ...older, replaces: undefined });
  const record: OutputRecord = { ...output, replaces: replaced.length === 0 ? undefined : replaced };
  return record as unknown as Plain;
}

export function outputOf(read: unknown): OwnedOutput {
  const record = read as OutputRecord;
  if (!Array.isArray(record.replaces)) return record as OwnedOutput;
  let replaces: OwnedOutput | undefined;
  for (const older of record.replaces.toReversed()) replaces = { ...older, replaces } as OwnedOutput;
  return { ...record, replaces };
}
