import { TimeSlice } from "@anulo/limits";
import { costs } from "./costs.ts";
import { type Call, type Implemented, method } from "./define.ts";
import { formatJson, type Json, type JsonObject } from "./json.ts";
import { describeCall, plain } from "./reference/describe-call.ts";
import type { ErrorCatalogue } from "./reference/error-catalogue.ts";
import type { ServiceReference } from "./reference/service-reference.ts";
import { type Resource, resource } from "./resource.ts";
import { object } from "./schema/composites.ts";
import type { Schema } from "./schema/schema.ts";

/** What the document says about the service. */
export type ServiceInfo = { readonly title: string; readonly version: string };

/** The document as a byte string (each character is one byte): written once, since it is long. */
class DocumentText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** The same as text. */
  get text(): string {
    return Buffer.from(this.json, "latin1").toString("utf8");
  }
}

/** A document: read as any JSON, written as it was written before. */
const documentSchema: Schema<Json, DocumentText, false> = {
  kind: "json",
  omittable: false,
  presence: "always",
  absent: () => null,
  absentInAnswer: false,
  read: (value) => value,
  write: ({ json }) => json,
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
  result: documentSchema,
});

/** The same document by GET. */
export const openRpcResource = resource({
  path: "/openrpc.json",
  scope: "any",
  cost: costs.medium,
  summary: "This interface as an OpenRPC document.",
});

type Documented = Pick<Implemented<never>, "call" | "handler">;

/** Where a document has a call. */
const listOf = ({ transport }: Call) => (transport === "jsonRpc" ? "methods" : "x-paths");

/** What a document describes besides calls. */
export type DocumentOptions = {
  /** Where the same calls are answered for one of the things that a service has. */
  readonly prefix?: string | undefined;
  readonly resources?: readonly Resource[];
  /** Descriptions, errors and examples; none if left out. */
  readonly reference?: ServiceReference | undefined;
};

/**
 * OpenRPC document of a service. Plain and binary paths, which OpenRPC does not know, are under `x-paths`; what
 * answers that it is not implemented has `x-not-implemented`. What is read by GET is under `x-resources`.
 * `x-named-path` is where the same calls are answered for one of the things a service has. `x-upstream` is the type of
 * a value in the upstream dialect where it differs, `x-omitted-when-empty` the dialects that leave an empty field out,
 * and `x-errors` when each error is returned. An example of a refused call has `x-error` in place of a result.
 * Source: https://spec.open-rpc.org, version 1.3.2.
 */
export function openRpcDocument(
  calls: readonly Documented[],
  info: ServiceInfo,
  { prefix, resources = [], reference }: DocumentOptions = {},
): { [key: string]: Json } {
  const described = (list: ReturnType<typeof listOf>): Json[] =>
    calls
      .filter(({ call }) => listOf(call) === list)
      .map(({ call, handler }) => describeCall(call, handler !== undefined, reference));
  return {
    openrpc: "1.3.2",
    info: { ...info, ...(reference && aboutService(reference)) },
    ...(reference && { servers: [{ name: reference.title, ...reference.server }] }),
    methods: described("methods"),
    ...(reference && errorsOf(reference.errors)),
    "x-paths": described("x-paths"),
    ...(resources.length > 0 && { "x-resources": resources.map(describeResource) }),
    ...(prefix !== undefined && { "x-named-path": `${prefix}/{name}/json_rpc` }),
  };
}

type LateOptions = Omit<DocumentOptions, "reference"> & {
  readonly loadReference?: (() => Promise<ServiceReference>) | undefined;
};

/** Returns the function that writes a service's document when it is first called, and returns the same from then on. */
export function createDocument(
  calls: readonly Documented[],
  info: ServiceInfo,
  { loadReference, ...options }: LateOptions = {},
): () => Promise<DocumentText> {
  let document: Promise<DocumentText> | undefined;
  return () => {
    document ??= (async () =>
      writeDocument(calls, info, { ...options, reference: await loadReference?.() }))();
    return document;
  };
}

/** Writes the document in slices, so that other requests do not wait for it. */
async function writeDocument(
  calls: readonly Documented[],
  info: ServiceInfo,
  options: DocumentOptions,
): Promise<DocumentText> {
  const slice = new TimeSlice();
  const { methods, "x-paths": paths, ...rest } = openRpcDocument([], info, options);
  const lists: Record<string, string[]> = { methods: [], "x-paths": [] };
  for (const { call, handler } of calls) {
    const described = describeCall(call, handler !== undefined, options.reference);
    lists[listOf(call)]!.push(formatJson(described));
    if (slice.isOver) await slice.yield();
  }
  const members = Object.entries(lists).map(([name, texts]) => `,"${name}":[${texts.join(",")}]`);
  return new DocumentText(`${formatJson(rest).trimEnd().slice(0, -1)}${members.join("")}}`);
}

function aboutService({ title, version, description }: ServiceReference): JsonObject {
  return {
    title,
    version,
    description,
    license: { name: "MIT", url: "https://opensource.org/license/mit" },
  };
}

function errorsOf(catalogue: ErrorCatalogue): JsonObject {
  const entries = Object.entries(catalogue);
  return {
    components: {
      errors: Object.fromEntries(entries.map(([name, { code, message }]) => [name, { code, message }])),
    },
    "x-errors": Object.fromEntries(
      entries.map(([name, { code, message, when }]) => [name, { code, message, when }]),
    ),
  };
}

function describeResource({ path, summary, access, scope, needs, query }: Resource): JsonObject {
  return {
    path,
    summary,
    query: Object.entries(query).map(([name, value]) => ({ name, schema: plain(value.describe()) })),
    ...(access === "unrestricted" && { "x-unrestricted": true }),
    ...(scope !== undefined && { "x-scope": scope }),
    ...(needs.length > 0 && { "x-needs": [...needs] }),
  };
}
