import type { RequestCaller, RequestInfo } from "@anulo/rpc";
import type { NodeContext, NodeServices } from "./context.ts";

/** Creates the context of a request's handler; consecutive requests from one address share it. */
export function contextsOf(services: NodeServices): (request: RequestInfo) => NodeContext {
  const contexts = new WeakMap<RequestCaller, NodeContext>();
  return ({ dialect, restricted, remoteAddress, caller }) => {
    const cached = contexts.get(caller);
    if (cached !== undefined) return cached;
    const context = {
      ...services,
      dialect,
      restricted,
      remoteAddress: withoutMapping(remoteAddress),
      rows: caller.rows,
      onWork: (milliseconds: number) => caller.onWork(milliseconds),
      get signal() {
        return caller.signal;
      },
    };
    contexts.set(caller, context);
    return context;
  };
}

/** The IPv4 address of a caller on an IPv6 socket. */
export function withoutMapping(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
