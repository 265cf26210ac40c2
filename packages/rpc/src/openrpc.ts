import { costs } from "./costs.ts";
import { type Call, type Implemented, method } from "./define.ts";
import { formatJson, type Json } from "./json.ts";
import type { Resource } from "./resource.ts";
import { object } from "./schema/composites.ts";
import type { JsonSchema, Schema } from "./schema/schema.ts";

/** What the document says about the service. */
export type ServiceInfo = { readonly title: string; readonly version: string };

/** Any JSON value, as it is. */
const anyJson: Schema<Json, Json, false> = {
  kind: "json",
  omittable: false,
  presence: "always",
  absent: () => null,
  absentInAnswer: false,
  read: (value) => value,
  write: (value, _dialect, indent) => formatJson(value, indent),
  readPortable: () => {
    throw new TypeError("JSON only");
  },
  writePortable: () => {
    throw new TypeError("JSON only");
  },
  isEmpty: () => false,
  describe: () => ({}),
};

/** `rpc.discover`, the method by which OpenRPC tools find the others. */
export const discover = method({
  name: "rpc.discover",
  cost: costs.medium,
  reads: true,
  scope: "any",
  reach: "nothing",
  summary: "This interface as an OpenRPC document.",
  params: object({}),
  result: anyJson,
});

/**
 * OpenRPC document of a service. Plain and binary paths, which OpenRPC does not know, are under `x-paths`; what
 * answers that it is not implemented has `x-not-implemented`. What is read by GET is under `x-resources`. `x-named-path` is where the same calls are answered for
 * one of the things a service has.
 * Source: https://spec.open-rpc.org, version 1.3.2.
 */
export function openRpcDocument(
  calls: readonly Pick<Implemented<never>, "call" | "handler">[],
  info: ServiceInfo,
  {
    prefix,
    resources = [],
  }: { readonly prefix?: string | undefined; readonly resources?: readonly Resource[] } = {},
): { [key: string]: Json } {
  const described = (jsonRpc: boolean): Json[] =>
    calls
      .filter(({ call }) => (call.transport === "jsonRpc") === jsonRpc)
      .map(({ call, handler }) => describeCall(call, handler !== undefined) as Json);
  return {
    openrpc: "1.3.2",
    info: { ...info },
    methods: described(true),
    "x-paths": described(false),
    ...(resources.length > 0 && { "x-resources": resources.map(describeResource) }),
    ...(prefix !== undefined && { "x-named-path": `${prefix}/{name}/json_rpc` }),
  };
}

function describeResource({ path, summary, access, scope, needs, query }: Resource): { [key: string]: Json } {
  return {
    path,
    summary,
    query: Object.entries(query).map(([name, value]) => ({ name, schema: plain(value.describe()) })),
    ...(access === "unrestricted" && { "x-unrestricted": true }),
    ...(scope !== undefined && { "x-scope": scope }),
    ...(needs.length > 0 && { "x-needs": [...needs] }),
  };
}

function describeCall(call: Call, isImplemented: boolean): object {
  const { name, aliases, dialect, summary, access, scope, needs, params, result, transport } = call;
  return {
    name,
    summary,
    paramStructure: params.kind === "list" ? "by-position" : "by-name",
    params: paramDescriptors(params.describe()),
    result: { name: "result", schema: plain(result.describe()) },
    ...(aliases.length > 0 && { "x-aliases": [...aliases] }),
    ...(dialect !== undefined && { "x-dialect": dialect }),
    ...(access === "unrestricted" && { "x-unrestricted": true }),
    ...(scope !== undefined && { "x-scope": scope }),
    ...(needs.length > 0 && { "x-needs": [...needs] }),
    ...(transport !== "jsonRpc" && { "x-transport": transport }),
    ...(!isImplemented && { "x-not-implemented": true }),
  };
}

function paramDescriptors(schema: JsonSchema): object[] {
  if (schema.type === "array") return [{ name: "params", schema: plain(schema.items as JsonSchema) }];
  const required = (schema.required ?? []) as readonly string[];
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    schema: plain(property),
  }));
}

/** A copy without anything that is not JSON. */
function plain(value: unknown): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
