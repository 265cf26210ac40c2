/** Paths for one of the named objects of a service: `PREFIX/NAME` before the path of the call. */

/** The path of the call, and the object it is about. */
export type Asked = {
  /** As in the call's declaration. */
  readonly path: string;
  /** Undefined if the call is about the service itself. */
  readonly name: string | undefined;
};

/** Splits a request's target; undefined for a name that is empty, or is not percent-encoded UTF-8. */
export function askedOf(target: string, prefix: string | undefined): Asked | undefined {
  if (prefix === undefined || !target.startsWith(`${prefix}/`)) return { path: target, name: undefined };
  const end = target.indexOf("/", prefix.length + 1);
  if (end === -1) return undefined;
  const name = decoded(target.slice(prefix.length + 1, end));
  return name === undefined || name === "" ? undefined : { path: target.slice(end), name };
}

/** Decoded once: characters that are still encoded then belong to the name. Source: RFC 3986, section 2.4. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
