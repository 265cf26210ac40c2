import type { CostLimits } from "@anulo/limits";
import { costs } from "./costs.ts";
import type { Dialect } from "./dialect.ts";
import type { RecordSchema } from "./schema/composites.ts";
import type { AnySchema, Fields, InputOf, TypeOf } from "./schema/schema.ts";
import type { NeededScope, Reach } from "./scope.ts";

/**
 * Who may call. The dispatcher enforces it before the handler runs.
 * `restricted-ok`: also on a restricted port; `unrestricted`: only on the full port (404 or -32601 elsewhere).
 */
export type Access = "restricted-ok" | "unrestricted";

/** A condition that must hold before a wallet handler runs; the dispatcher rejects the call with the code of each. */
export type Need =
  | "openWallet"
  | "trustedDaemon"
  | "unrestrictedService"
  | "mainWallet"
  | "spendKey"
  | "enabledMultisig";

/** The properties of a declaration besides name, params and result. */
export type Declared = {
  /** Other names of the call. */
  readonly aliases?: readonly string[];
  /** The only dialect that has it; both if left out. */
  readonly dialect?: Dialect;
  readonly access?: Access;
  /** The scope that a token needs; if left out, no token allows the call. */
  readonly scope?: NeededScope;
  /** What the call is about; the open wallet if left out. */
  readonly reach?: Reach;
  /** The amount it spends can't be counted, so no token with a cap may make the call. */
  readonly isUncounted?: boolean;
  readonly needs?: readonly Need[];
  /** It changes nothing, so it is allowed by GET. Any other call needs POST or a login. */
  readonly reads?: boolean;
  /** Its maximum cost; `small` if left out. */
  readonly cost?: CostLimits;
  /** One sentence. */
  readonly summary: string;
};

/** A JSON-RPC method. `params` is a record, or a list if the interface defines it so. */
export type Method<
  Name extends string = string,
  Params extends AnySchema = AnySchema,
  Result extends AnySchema = AnySchema,
> = {
  readonly transport: "jsonRpc";
  readonly name: Name;
  readonly aliases: readonly string[];
  readonly dialect?: Dialect;
  readonly access: Access;
  readonly scope?: NeededScope;
  readonly reach: Reach;
  readonly isUncounted?: boolean;
  readonly needs: readonly Need[];
  readonly reads: boolean;
  readonly cost: CostLimits;
  readonly summary: string;
  readonly params: Params;
  readonly result: Result;
};

/** A plain path (JSON object in, JSON object out) or a binary path (portable storage in and out). */
export type Path<
  Name extends string = string,
  Params extends AnySchema = AnySchema,
  Result extends AnySchema = AnySchema,
> = Omit<Method<Name, Params, Result>, "transport"> & {
  readonly transport: "json" | "binary";
  /** A plain path that also accepts binary requests, with a binary response. */
  readonly alsoBinary?: boolean;
};

/** Anything that can be called. */
export type Call = Method | Path;

/** Declares a JSON-RPC method. */
export function method<const Name extends string, Params extends AnySchema, Result extends AnySchema>(
  declaration: Declared & { readonly name: Name; readonly params: Params; readonly result: Result },
): Method<Name, Params, Result> {
  return { ...declaration, ...rules(declaration), transport: "jsonRpc" };
}

/** Declares a plain path; `name` begins with a slash. */
export function path<const Name extends `/${string}`, P extends Fields, Result extends AnySchema>(
  declaration: Declared & {
    readonly name: Name;
    readonly params: RecordSchema<P>;
    readonly result: Result;
    readonly alsoBinary?: boolean;
  },
): Path<Name, RecordSchema<P>, Result> {
  return { ...declaration, ...rules(declaration), transport: "json" };
}

/** Declares a binary path; `name` ends in `.bin`. */
export function binaryPath<const Name extends `/${string}.bin`, P extends Fields, R extends Fields>(
  declaration: Declared & {
    readonly name: Name;
    readonly params: RecordSchema<P>;
    readonly result: RecordSchema<R>;
  },
): Path<Name, RecordSchema<P>, RecordSchema<R>> {
  return { ...declaration, ...rules(declaration), transport: "binary" };
}

function rules(declared: Declared) {
  const { aliases = [], access = "restricted-ok", needs = [], reads = false, cost = costs.small } = declared;
  const { reach = "wallet" } = declared;
  return { aliases, access, needs, reads, cost, reach };
}

/** Declarations by names chosen here, so that handlers read like functions. */
export type Group = Readonly<Record<string, Call>>;

/** The params that a handler of `C` receives. */
export type ParamsOf<C extends Call> = TypeOf<C["params"]>;

/** The params that may be left out of a call, with their default values. */
export function usualParams({ params }: Call): Readonly<Record<string, unknown>> {
  const { fields = {} } = params as Partial<RecordSchema<Fields>>;
  const omittable = Object.entries(fields).filter(([, schema]) => schema.omittable);
  return Object.fromEntries(omittable.map(([name, schema]) => [name, schema.absent()]));
}

/** What a handler of `C` returns. */
export type ResultOf<C extends Call> = InputOf<C["result"]>;

export type Handler<C extends Call, Context> = (
  params: ParamsOf<C>,
  context: Context,
) => ResultOf<C> | Promise<ResultOf<C>>;

/** One handler for each declaration of a group: a missing or misspelt one does not compile. */
export type Handlers<G extends Group, Context> = {
  readonly [K in keyof G]: Handler<G[K], Context>;
};

/** A declaration with its handler, or without one: then the response is that it is not implemented. */
export type Implemented<Context> = {
  readonly call: Call;
  readonly handler: Handler<Call, Context> | undefined;
};

/**
 * Returns the function that binds handlers to a group. Every declaration needs a handler or its name in `notYet`;
 * leaving one out does not compile, and neither does a handler for a name in `notYet`.
 */
export function implementFor<Context>() {
  return <G extends Group, const NotYet extends keyof G = never>(
    group: G,
    handlers: Handlers<Omit<G, NotYet>, Context>,
    notYet: readonly NotYet[] = [],
  ): Implemented<Context>[] => {
    const missing = new Set<PropertyKey>(notYet);
    const byName = handlers as Readonly<Record<string, Handler<Call, Context>>>;
    return Object.entries(group).map(([key, call]) => ({
      call,
      handler: missing.has(key) ? undefined : byName[key],
    }));
  };
}
