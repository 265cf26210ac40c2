import type { Dialect } from "../dialect.ts";
import { BadRequest } from "../errors.ts";
import { putValue, type Schema } from "./schema.ts";

/** One form of a value on the wire. */
export type WireForm<Value, Wire> = {
  readonly schema: Schema<Wire>;
  readonly toWire: (value: Value) => Wire;
  readonly fromWire: (wire: Wire) => Value;
};

/** A value with two forms. */
export interface SwitchedSchema<Value> extends Schema<Value, Value, false> {
  readonly forms: Readonly<Record<Dialect, WireForm<Value, unknown>>>;
}

/** Checks the wire type of a form. */
export function wireForm<Value, Wire>(form: WireForm<Value, Wire>): WireForm<Value, unknown> {
  return form as WireForm<Value, unknown>;
}

/**
 * A value that looks different in each dialect; handlers and clients see one form only. Reading accepts both,
 * the contract's first.
 */
export function switched<Value>(
  forms: Readonly<Record<Dialect, WireForm<Value, unknown>>>,
): SwitchedSchema<Value> {
  const { contract, upstream } = forms;
  return {
    kind: "switched",
    forms,
    omittable: false,
    presence: contract.schema.presence,
    absent: () => contract.fromWire(contract.schema.absent()),
    absentInAnswer: contract.schema.absentInAnswer,
    read: (value, reading) => {
      try {
        return contract.fromWire(contract.schema.read(value, reading));
      } catch (error) {
        if (!(error instanceof BadRequest)) throw error;
        return upstream.fromWire(upstream.schema.read(value, reading));
      }
    },
    write: (value, dialect, indent) =>
      forms[dialect].schema.write(forms[dialect].toWire(value), dialect, indent),
    put: (value, out, indent) => {
      const { schema, toWire } = forms[out.dialect];
      putValue(schema, toWire(value), out, indent);
    },
    readPortable: (entry, reading) => upstream.fromWire(upstream.schema.readPortable(entry, reading)),
    writePortable: (value) => upstream.schema.writePortable(upstream.toWire(value)),
    isEmpty: (value) => contract.schema.isEmpty(contract.toWire(value)),
    describe: (as) => forms[as?.dialect ?? "contract"].schema.describe(as),
  };
}
