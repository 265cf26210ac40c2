/** Resources that GET requests read at paths of their own, beside the calls: they change nothing. */
import type { CostLimits, MaybePromise } from "@anulo/limits";
import { costs } from "./costs.ts";
import type { Access, Need } from "./define.ts";
import { RpcError } from "./errors.ts";
import type { Json, JsonObject } from "./json.ts";
import type { QueryFields, QueryOf } from "./schema/query.ts";
import type { NeededScope } from "./scope.ts";

/** A resource: its path, its query, and its maximum cost. */
export type Resource<Query extends QueryFields = QueryFields> = {
  /** Begins with a slash; if the server has a prefix it is also available below `PREFIX/NAME`. */
  readonly path: `/${string}`;
  readonly query: Query;
  readonly access: Access;
  readonly scope?: NeededScope;
  readonly needs: readonly Need[];
  /** Maximum cost of a response, and of one event of a stream. */
  readonly cost: CostLimits;
  readonly summary: string;
};

/** What the declaration of a resource says. */
export type DeclaredResource<Query extends QueryFields> = {
  readonly path: `/${string}`;
  /** The declared values of the query; none if left out. */
  readonly query?: Query;
  readonly access?: Access;
  /** The scope that a token needs; if left out, no token allows it. */
  readonly scope?: NeededScope;
  readonly needs?: readonly Need[];
  /** Its maximum cost; `small` if left out. */
  readonly cost?: CostLimits;
  /** One sentence. */
  readonly summary: string;
};

/** Declares a resource. */
export function resource<const Query extends QueryFields>(
  declaration: DeclaredResource<Query>,
): Resource<Query> {
  const { query = {} as Query, access = "restricted-ok", needs = [], cost = costs.small } = declaration;
  return { ...declaration, query, access, needs, cost };
}

/** What a handler receives beside the query. */
export type ResourceRequest = {
  /** The header Accept as it was sent. */
  readonly accept: string | undefined;
  /** The header Last-Event-ID as it was sent: the last id that the client has received. */
  readonly lastEventId: string | undefined;
  /** Aborted when the caller leaves, and when a stream has ended, however it did. */
  readonly signal: AbortSignal;
};

/** One event of a stream. Source: HTML Standard, section 9.2, "Server-sent events". */
export type ServerEvent = {
  /** Sent back in Last-Event-ID; visible ASCII characters. */
  readonly id?: string;
  /** Visible ASCII characters; clients use `message` if it is left out. */
  readonly event?: string;
  /** Any text; its lines are sent as lines of data. */
  readonly data: string;
};

/** What a handler returns. */
export type ResourceAnswer =
  | { readonly status?: 200 | 503; readonly json: Json }
  | {
      readonly status?: 200 | 503;
      readonly text: string;
      readonly type: "application/json" | "text/plain" | "text/plain; version=0.0.4";
    }
  /**
   * A stream, of which events are requested one at a time as its reader receives them. If it ends early the request's
   * signal is aborted and `return` of the iterator is called, if it was started; the connection is closed when the
   * iterator is done or throws.
   */
  | { readonly events: AsyncIterable<ServerEvent> };

/** A handler; RpcError and HttpError reject the request, anything else is a failure (500). */
export type ResourceHandler<R extends Resource, Context> = (
  context: Context,
  query: QueryOf<R["query"]>,
  request: ResourceRequest,
) => MaybePromise<ResourceAnswer>;

/** Rejects a request to a resource with an HTTP status; a plain RpcError does so with 400. */
export class HttpError extends RpcError {
  readonly status: 400 | 403 | 404 | 409 | 410 | 503;

  constructor(
    status: HttpError["status"],
    refusal: { code: number; message: string; data?: JsonObject | undefined },
  ) {
    super(refusal.code, refusal.message, refusal.data);
    this.name = "HttpError";
    this.status = status;
  }
}

/** A declaration with its handler. */
export type ImplementedResource<Context> = {
  readonly resource: Resource;
  readonly handler: ResourceHandler<Resource, Context>;
};

/** Returns the function that binds handlers to resources: a missing or misspelt one does not compile. */
export function implementResourcesFor<Context>() {
  return <G extends Readonly<Record<string, Resource>>>(
    group: G,
    handlers: { readonly [K in keyof G]: ResourceHandler<G[K], Context> },
  ): ImplementedResource<Context>[] => {
    const byName = handlers as Readonly<Record<string, ResourceHandler<Resource, Context>>>;
    return Object.entries(group).map(([key, declared]) => ({ resource: declared, handler: byName[key]! }));
  };
}
