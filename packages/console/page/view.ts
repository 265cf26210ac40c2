import type { ComponentType } from "preact";

/** One view: the first part of its address, its name in the navigation, and what shows it. */
export type View = {
  readonly path: string;
  /** Left out: it is reached by links alone. */
  readonly name?: string;
  /** Views that are reached from this one, by their first parts. */
  readonly holds?: readonly string[];
  /** `parts`: what follows in the address. */
  readonly Page: ComponentType<{ readonly parts: readonly string[] }>;
};

/** Tells those who listen to the page what has changed. */
export function say(text: string): void {
  dispatchEvent(new CustomEvent("said", { detail: text }));
}
