/** JSON Schemas of calls with a description of each field. */
import type { Call } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import type { JsonSchema } from "../schema/schema.ts";

/** What fields mean. A key is a field's name, or says where the name means something else (`keysOf`). */
export type Descriptions = Readonly<Record<string, string>>;

type Section = "params" | "result";

/** The keys under which a field is looked up, the most specific first: its call, section and names from outside in. */
function keysOf(call: string, section: Section, names: readonly string[]): string[] {
  const name = names.at(-1);
  if (name === undefined) return [`${call} ${section}`];
  const parents = names.length > 1 ? [`${names.at(-2)}.${name}`] : [];
  return [
    `${call} ${section}.${names.join(".")}`,
    ...parents.map((key) => `${call} ${key}`),
    ...parents,
    `${call} ${name}`,
    name,
  ];
}

/** The key that describes a field, or undefined. */
function descriptionKeyOf(
  descriptions: Descriptions,
  call: string,
  field: { readonly section: Section; readonly names: readonly string[] },
): string | undefined {
  return keysOf(call, field.section, field.names).find((key) => Object.hasOwn(descriptions, key));
}

type Walk = {
  readonly call: string;
  readonly section: Section;
  readonly descriptions: Descriptions;
};

function withDescriptions(schema: JsonSchema, names: readonly string[], walk: Walk): JsonSchema {
  const key = descriptionKeyOf(walk.descriptions, walk.call, { section: walk.section, names });
  const texts = [key === undefined ? undefined : walk.descriptions[key], schema.description];
  const description = texts.filter((text) => text !== undefined).join(" ");
  const { properties, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  return {
    ...schema,
    ...(description !== "" && { description }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          withDescriptions(property, [...names, name], walk),
        ]),
      ),
    }),
    ...(items !== undefined && { items: membersOf(items, names, walk) }),
  };
}

/** Elements of a list need no description of their own, but their fields do. */
function membersOf(items: JsonSchema, names: readonly string[], walk: Walk): JsonSchema {
  const { description: _, ...members } = withDescriptions(items, names, walk);
  return { ...members, ...(items.description !== undefined && { description: items.description }) };
}

/** The schema of a call's params or result in a dialect, with descriptions. */
export function describedSchema(
  call: Call,
  section: Section,
  { descriptions, dialect }: { readonly descriptions: Descriptions; readonly dialect: Dialect },
): JsonSchema {
  const of = section === "params" ? "request" : "answer";
  return withDescriptions(call[section].describe({ of, dialect }), [], {
    call: call.name,
    section,
    descriptions,
  });
}

const structure = new Set(["properties", "items", "required", "x-omitted-when-empty"]);

function differs(a: JsonSchema, b: JsonSchema): boolean {
  const [one, other] = [a, b].map((schema) =>
    JSON.stringify(
      Object.entries(schema)
        .filter(([name]) => !structure.has(name))
        .sort(),
      (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
    ),
  );
  return one !== other;
}

/** The contract's schema with `x-upstream` wherever the upstream dialect writes a value of another type. */
export function withUpstream(contract: JsonSchema, upstream: JsonSchema): JsonSchema {
  if (differs(contract, upstream)) return { ...contract, "x-upstream": upstream };
  const { properties, items } = contract as { properties?: Record<string, JsonSchema>; items?: JsonSchema };
  const others = upstream.properties as Record<string, JsonSchema> | undefined;
  return {
    ...contract,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, withUpstream(property, others![name]!)]),
      ),
    }),
    ...(items !== undefined && { items: withUpstream(items, upstream.items as JsonSchema) }),
  };
}

/** The fields of a call's params and result, each with the key of its description. */
export function fieldsOfCall(
  call: Call,
  descriptions: Descriptions,
): { readonly field: string; readonly key: string | undefined }[] {
  const fields: { field: string; key: string | undefined }[] = [];
  for (const section of ["params", "result"] as const) {
    const visit = (schema: JsonSchema, names: readonly string[]): void => {
      const isWhole = names.length === 0;
      if (!isWhole || (schema.type !== "object" && schema.type !== undefined)) {
        const field = `${call.name} ${[section, ...names].join(".")}`;
        fields.push({ field, key: descriptionKeyOf(descriptions, call.name, { section, names }) });
      }
      visitMembers(schema, names);
    };
    const visitMembers = (schema: JsonSchema, names: readonly string[]): void => {
      const { properties = {}, items } = schema as {
        properties?: Record<string, JsonSchema>;
        items?: JsonSchema;
      };
      for (const [name, property] of Object.entries(properties)) visit(property, [...names, name]);
      if (items !== undefined) visitMembers(items, names);
    };
    visit(call[section].describe(), []);
  }
  return fields;
}
