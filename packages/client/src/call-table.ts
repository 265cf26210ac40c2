/**
 * The properties of a call at run time: its name (a path if it begins with a slash), its flags (`r`: it changes
 * nothing, `k`: it makes a payment and accepts an idempotency key, `l`: its params are a list), the shape of its
 * result, and params that are always sent.
 */
export type CallRow = readonly [name: string, flags: string, shape: string, fixed?: object];

export type CallTable = Readonly<Record<string, CallRow>>;

/** Params and result of calls, by the names of a client's functions. */
export type CallTypes<Calls> = { readonly [K in keyof Calls]: { params: unknown; result: unknown } };
