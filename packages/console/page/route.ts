/** The page's own addresses: what follows `#` names a view, so that every one of them can be linked and reloaded. */
import { useEffect, useState } from "preact/hooks";

/** The parts of an address between its slashes, decoded. */
export type Route = readonly string[];

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function readRoute(): Route {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
}

/** The address of a view, for a link. */
export function linkTo(...parts: readonly (string | number)[]): string {
  return `#/${parts.map((part) => encodeURIComponent(String(part))).join("/")}`;
}

/** The current view's address, followed as it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const follow = () => setRoute(readRoute());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
