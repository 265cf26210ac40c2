/**
 * What is known of a call at run time: its name (a path where it begins with a slash), what may be done with it (`r`:
 * it changes nothing, `k`: it makes a payment and takes an idempotency key, `l`: its params are a list), the shape of its result, and params that are always sent.
 */
export type CallRow = readonly [name: string, flags: string, shape: string, fixed?: object];

export type CallTable = Readonly<Record<string, CallRow>>;

/** Params and result of calls, by the names of a client's functions. */
export type CallTypes<Calls> = { readonly [K in keyof Calls]: { params: unknown; result: unknown } };
