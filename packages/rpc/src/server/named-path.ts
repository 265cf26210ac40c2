/** Paths of a service for one of the things it has: `PREFIX/NAME` before what is asked of it. */

/** What is asked, of what. */
export type Asked = {
  /** As calls are declared. */
  readonly path: string;
  /** Undefined where it is asked of the service itself. */
  readonly name: string | undefined;
};

/** Splits a request's target; undefined for a name that is empty, or is not written as UTF-8 in percent encoding. */
export function askedOf(target: string, prefix: string | undefined): Asked | undefined {
  if (prefix === undefined || !target.startsWith(`${prefix}/`)) return { path: target, name: undefined };
  const end = target.indexOf("/", prefix.length + 1);
  if (end === -1) return undefined;
  const name = decoded(target.slice(prefix.length + 1, end));
  return name === undefined || name === "" ? undefined : { path: target.slice(end), name };
}

/** Decoded once: what is still encoded then belongs to the name. Source: RFC 3986, section 2.4. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
