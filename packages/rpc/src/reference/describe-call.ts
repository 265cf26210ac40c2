import type { Call } from "../define.ts";
import type { Json, JsonObject } from "../json.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { describedSchema, withUpstream } from "./describe-fields.ts";
import { errorNamesOf } from "./error-catalogue.ts";
import type { CallExample } from "./examples.ts";
import type { ServiceReference } from "./service-reference.ts";

/** The parts of a reference that describe calls. */
export type CallReference = Pick<ServiceReference, "descriptions" | "errors" | "examples" | "subjects">;

/** A call as a method of an OpenRPC document. Without a reference: what the declaration alone says. */
export function describeCall(call: Call, isImplemented: boolean, reference?: CallReference): JsonObject {
  const { name, aliases, dialect, summary, access, scope, needs, params, transport } = call;
  return {
    name,
    summary,
    ...(reference && tagsOf(call, reference)),
    paramStructure: params.kind === "list" ? "by-position" : "by-name",
    params: paramDescriptors(schemaOf(call, "params", reference)),
    result: resultDescriptor(schemaOf(call, "result", reference)),
    ...(reference && referenceOf(call, reference)),
    ...(aliases.length > 0 && { "x-aliases": [...aliases] }),
    ...(dialect !== undefined && { "x-dialect": dialect }),
    ...(access === "unrestricted" && { "x-unrestricted": true }),
    ...(scope !== undefined && { "x-scope": scope }),
    ...(needs.length > 0 && { "x-needs": [...needs] }),
    ...(transport !== "jsonRpc" && { "x-transport": transport }),
    ...(!isImplemented && { "x-not-implemented": true }),
  };
}

function schemaOf(
  call: Call,
  section: "params" | "result",
  reference: CallReference | undefined,
): JsonSchema {
  const descriptions = reference?.descriptions ?? {};
  const [contract, upstream] = (["contract", "upstream"] as const).map((dialect) =>
    describedSchema(call, section, { descriptions, dialect }),
  );
  return withUpstream(contract!, upstream!);
}

function tagsOf(call: Call, { subjects }: CallReference): JsonObject {
  const subject = subjects.find(({ calls }) => Object.values(calls).includes(call));
  return subject === undefined ? {} : { tags: [{ name: subject.name, description: subject.description }] };
}

/** Errors and examples. */
function referenceOf(call: Call, { errors, examples }: CallReference): JsonObject {
  const names = call.transport === "jsonRpc" ? errorNamesOf(call, errors) : [];
  const recorded = examples.get(call.name) ?? [];
  return {
    ...(names.length > 0 && { errors: names.map((name) => ({ $ref: `#/components/errors/${name}` })) }),
    ...(recorded.length > 0 && { examples: recorded.flatMap((example) => examplePairs(call, example)) }),
  };
}

const CUT = "As recorded; long lists are cut to their first elements, long texts to their beginning.";
const IN_HEX =
  "Request and response are portable storage: these are their fields, with bytes as hexadecimal.";

/** OpenRPC has no place for an error in an example: it is under `x-error`, with no result beside it. */
function examplePairs({ name, params: declared }: Call, example: CallExample): Json[] {
  const { params, result, error, upstream } = example;
  const named =
    declared.kind === "list" ? [{ name: "params", value: params }] : membersOf(params as JsonObject);
  const pair = (title: string, value: Json | undefined) => ({
    name: title,
    description: name.endsWith(".bin") ? `${IN_HEX} ${CUT}` : CUT,
    params: named,
    ...(value !== undefined && { result: { name: "result", value } }),
    ...(value === undefined && error !== undefined && { "x-error": error }),
  });
  const first = pair(name, result);
  return upstream === undefined ? [first] : [first, pair(`${name}, upstream dialect`, upstream)];
}

function membersOf(params: JsonObject): Json[] {
  return Object.entries(params).map(([name, value]) => ({ name, value }));
}

function resultDescriptor(schema: JsonSchema): JsonObject {
  return { name: "result", ...describedBy(schema), schema: plain(schema) };
}

function describedBy({ description }: JsonSchema): JsonObject {
  return typeof description === "string" ? { description } : {};
}

function paramDescriptors(schema: JsonSchema): Json[] {
  if (schema.type === "array") {
    const { description } = schema;
    const items = schema.items as JsonSchema;
    return [{ name: "params", ...describedBy({ description }), schema: plain(items) }];
  }
  const required = (schema.required ?? []) as readonly string[];
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    ...describedBy(property),
    required: required.includes(name),
    schema: plain(property),
  }));
}

/** A copy without anything that is not JSON. */
export function plain(value: unknown): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
