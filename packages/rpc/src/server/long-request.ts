import { type MaybePromise, runSliced, type SliceOptions, whenFailed } from "@anulo/limits";
import type { Call } from "../define.ts";
import { BadRequest } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { isListSchema, type ListSchema, type RecordSchema } from "../schema/composites.ts";
import type { AnySchema, Fields } from "../schema/schema.ts";
import { BadParams, type RequestInfo, readParams } from "./call.ts";
import { CallerLeft } from "./request-budget.ts";

/** Bodies up to this size (bytes), and lists up to this length, are read at once. */
const SHORT_BODY = 64 * 1024;
const SHORT_LIST = 1024;

/**
 * Parses a body by the steps that `parse` returns: a long one between turns of the event loop, so that it does not block
 * it. `parse` is passed a function to be called with the number of values so far, which reserves their memory.
 */
export function parseBody<T>(
  body: Uint8Array,
  request: RequestInfo,
  parse: (onValues: (values: number) => void) => Generator<void, T>,
): MaybePromise<T> {
  if (body.length <= SHORT_BODY) return atOnce(parse(() => {}));
  const reserve = (values: number) => request.budget.reserveWithText(values);
  reserve(0);
  return between(request, (options) => runSliced(parse(reserve), options));
}

function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs work in slices until the connection is closed; throws CallerLeft then. */
function between<T>(
  { caller }: RequestInfo,
  work: (options: SliceOptions) => MaybePromise<T>,
): MaybePromise<T> {
  const { leftSignal } = caller;
  // Reading a request reads no rows; those that the connection's last call was allowed are not its own.
  caller.rows.begin(Number.POSITIVE_INFINITY);
  return whenFailed(
    () => caller.rows.during(work, { signal: leftSignal }),
    (error) => {
      throw leftSignal.aborted && error === leftSignal.reason ? new CallerLeft() : error;
    },
  );
}

type LongParams = { readonly params: JsonObject; readonly names: readonly string[] };

function* paramsSteps(call: Call, { params, names }: LongParams): Generator<void, unknown> {
  const { fields } = call.params as RecordSchema<Fields>;
  const others: JsonObject = { ...params };
  const lists: Record<string, unknown> = {};
  for (const name of names) {
    lists[name] = yield* (fields[name] as ListSchema<AnySchema>).readSteps(params[name] as Json[], {
      of: "request",
    });
    delete others[name];
  }
  return { ...(readParams(call, others) as object), ...lists };
}

/** As `readParams`; long lists are read between turns of the event loop. Throws BadParams. */
export function readLongParams(call: Call, params: Json, request: RequestInfo): MaybePromise<unknown> {
  const names = longListsOf(call, params);
  if (names.length === 0) return readParams(call, params);
  return whenFailed<unknown>(
    () =>
      between(request, (options) =>
        runSliced(paramsSteps(call, { params: params as JsonObject, names }), options),
      ),
    (error) => {
      throw error instanceof BadRequest ? new BadParams(error.message) : error;
    },
  );
}

/** Names of the fields with lists that are long. */
function longListsOf(call: Call, params: Json): string[] {
  const { fields } = call.params as Partial<RecordSchema<Fields>>;
  if (fields === undefined || !isJsonObject(params)) return [];
  const isLong = (value: Json | undefined) => Array.isArray(value) && value.length > SHORT_LIST;
  return Object.keys(fields).filter(
    (name) => Object.hasOwn(params, name) && isLong(params[name]) && isListSchema(fields[name]),
  );
}
