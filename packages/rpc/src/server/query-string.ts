import { BadRequest } from "../errors.ts";
import type { QueryFields } from "../schema/query.ts";

/** Maximum length of the text after the question mark of a target; longer ones are rejected before they are parsed. */
const MAX_QUERY_LENGTH = 4096;

/** Without `+`, which some read as itself and others as a space. Source: RFC 3986, section 3.4. */
const QUERY = /^[-A-Za-z0-9._~!$&'()*,;=:@/?%]*$/;

/** Parses `name=value&…`: declared names only, each at most once. Throws BadRequest with the name that caused it. */
export function readQuery(text: string, fields: QueryFields): Record<string, unknown> {
  if (text.length > MAX_QUERY_LENGTH) throw new BadRequest(`longer than ${MAX_QUERY_LENGTH} characters`);
  if (!QUERY.test(text)) throw new BadRequest("holds characters that are to be percent-encoded");
  const parameters = new Map<string, unknown>();
  for (const pair of text === "" ? [] : text.split("&")) {
    const equals = pair.indexOf("=");
    if (equals === -1) throw new BadRequest("not name=value pairs");
    const name = decoded(pair.slice(0, equals));
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) throw new BadRequest("not a parameter of this resource", [named(name)]);
    if (parameters.has(name)) throw new BadRequest("given twice", [name]);
    parameters.set(name, readValue(pair.slice(equals + 1), name, field));
  }
  const values = Object.entries(fields).map(([name, { absent }]) => [
    name,
    parameters.has(name) ? parameters.get(name) : absent,
  ]);
  return Object.fromEntries(values);
}

function readValue(text: string, name: string, field: QueryFields[string]): unknown {
  try {
    return field.read(decoded(text));
  } catch (error) {
    if (error instanceof BadRequest) throw error.within(name);
    throw error;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw new BadRequest("not UTF-8 in percent encoding");
    throw error;
  }
}

const LONGEST_NAME = 32;

/** An undeclared name, shortened for the error message. */
function named(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}
