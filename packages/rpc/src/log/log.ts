import {
  categoriesOfLevel,
  changedCategories,
  type IsLogged,
  parseCategories,
  type Severity,
} from "./categories.ts";
import type { Logger } from "./logger.ts";

/** One event of a log. */
export interface LogLine {
  readonly severity: Severity;
  readonly category: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger whose categories can be changed while the service runs. */
export interface Log extends Logger {
  /** The current category:level pairs. */
  readonly categories: string;
  /** Accepts a level, a set of pairs, or `+` / `-` and pairs to add or remove. */
  change(categories: string): void;
}

export interface LogOptions {
  /** Receives every event that the categories select. */
  readonly write: (line: LogLine) => void;
  /** In the format that `change` accepts; level 0 by default. */
  readonly categories?: string | undefined;
}

/** The category of events without one. */
const GENERAL = "global";

/** Creates a log. */
export function createLog({ write, categories = "0" }: LogOptions): Log {
  let text = changedCategories("", categories);
  let isLogged = cachedByEvent(parseCategories(text));
  const loggerOf = (category: string): Logger => {
    const at = (severity: Severity) => (event: string, fields?: LogLine["fields"]) => {
      if (isLogged(category, severity)) write({ severity, category, event, fields: fields ?? {} });
    };
    const [error, warn, info, debug] = [at("ERROR"), at("WARNING"), at("INFO"), at("DEBUG")];
    return { error, warn, info, debug, in: loggerOf };
  };
  return {
    ...loggerOf(GENERAL),
    get categories() {
      return text;
    },
    change(categories) {
      text = changedCategories(text, categories);
      isLogged = cachedByEvent(parseCategories(text));
    },
  };
}

/** Caches results: categories are few, and every event tests one. */
function cachedByEvent(isLogged: IsLogged): IsLogged {
  const levels = new Map<string, boolean>();
  return (category, severity) => {
    const event = `${severity} ${category}`;
    const is = levels.get(event) ?? isLogged(category, severity);
    levels.set(event, is);
    return is;
  };
}

/** A log that is not written, for services embedded in a program. */
export function unreadLog(): Log {
  return createLog({ write: () => {}, categories: categoriesOfLevel(0) });
}
