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
  /** What is logged, as category:level pairs. */
  readonly categories: string;
  /** Takes a level, a set of pairs, or `+` / `-` and pairs to add or take away. */
  change(wanted: string): void;
}

export interface LogOptions {
  /** Given every event that the categories let through. */
  readonly write: (line: LogLine) => void;
  /** As `change` takes it; by default level 0. */
  readonly categories?: string | undefined;
}

/** The category of what belongs to no other. */
const GENERAL = "global";

/** Starts a log. */
export function createLog({ write, categories = "0" }: LogOptions): Log {
  let text = changedCategories("", categories);
  let isLogged = remembered(parseCategories(text));
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
    change(wanted) {
      text = changedCategories(text, wanted);
      isLogged = remembered(parseCategories(text));
    },
  };
}

/** Categories are few, and asked for with every event. */
function remembered(isLogged: IsLogged): IsLogged {
  const known = new Map<string, boolean>();
  return (category, severity) => {
    const event = `${severity} ${category}`;
    const is = known.get(event) ?? isLogged(category, severity);
    known.set(event, is);
    return is;
  };
}

/** A log nobody reads, for services embedded in a program. */
export function unreadLog(): Log {
  return createLog({ write: () => {}, categories: categoriesOfLevel(0) });
}
