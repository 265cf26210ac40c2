/**
 * Which events are logged: pairs of category and level, such as `*:WARNING,net.p2p:DEBUG`. The last pair whose
 * pattern fits decides. Source: mlog.cpp, easylogging++.cc `VRegistry::priority_allowed`.
 */

/** From the most to the least severe. */
const severities = ["FATAL", "ERROR", "WARNING", "INFO", "DEBUG", "TRACE"] as const;
export type Severity = (typeof severities)[number];

/** Categories of the levels from 0 to 4. Source: mlog.cpp `get_default_categories`. */
const levels: readonly string[] = [
  "*:WARNING,net:FATAL,net.http:FATAL,net.ssl:FATAL,net.p2p:FATAL,net.cn:FATAL,daemon.rpc:FATAL," +
    "global:INFO,verify:FATAL,serialization:FATAL,daemon.rpc.payment:ERROR,stacktrace:INFO,logging:INFO,msgwriter:INFO",
  "*:INFO,global:INFO,stacktrace:INFO,logging:INFO,msgwriter:INFO,perf.*:DEBUG",
  "*:DEBUG",
  "*:TRACE,*.dump:DEBUG",
  "*:TRACE",
];

/** The set that the interface document specifies for requests without categories. Source: node-service.md. */
export const documentedCategories =
  "*:WARNING,net:FATAL,net.p2p:FATAL,net.cn:FATAL,global:INFO,verify:FATAL,stacktrace:INFO,logging:INFO,msgwriter:INFO";

/** Categories of a level from 0 to 4; undefined for another number. */
export function categoriesOfLevel(level: number): string | undefined {
  return levels[level];
}

/**
 * The categories that result if a level (`2`), a level and more (`1,net:DEBUG`), a new set, or `+` / `-` with
 * categories to add or remove is requested. Source: mlog.cpp `mlog_set_log`, `mlog_set_categories`.
 */
export function changedCategories(current: string, change: string): string {
  const [, level, more] = /^\s*([+-]?\d+)(,.*)?$/s.exec(change) ?? [];
  if (level !== undefined) {
    // A number that is not a level changes nothing, or stands for no categories if others follow.
    const ofLevel = levels[Number(level)] ?? (more === undefined ? current : "");
    return `${ofLevel}${more ?? ""}`;
  }
  if (change === "+") return current;
  if (change.startsWith("+")) return current === "" ? change.slice(1) : `${current},${change.slice(1)}`;
  if (!change.startsWith("-")) return change;
  return change
    .slice(1)
    .split(/,+/)
    .reduce((rest, category) => rest.replace(category, ""), current);
}

/** Returns whether an event is to be logged. */
export type IsLogged = (category: string, severity: Severity) => boolean;

/** Parses pairs; invalid ones are skipped, as in the original. */
export function parseCategories(text: string): IsLogged {
  const pairs = text
    .split(",")
    .flatMap((pair) => {
      const [, pattern, level] = /^(.+?):+([A-Z]+)/.exec(pair) ?? [];
      const least = (severities as readonly string[]).indexOf(level ?? "");
      return pattern === undefined || least === -1 ? [] : [{ pattern, least }];
    })
    .reverse();
  return (category, severity) => {
    const decides = pairs.find(({ pattern }) => fits(pattern, category));
    return decides !== undefined && severities.indexOf(severity) <= decides.least;
  };
}

/** `*` matches any text, `?` one character; the time is bounded by the product of the lengths. */
function fits(pattern: string, text: string): boolean {
  let reached = [true, ...Array<boolean>(text.length).fill(false)];
  for (const character of pattern) {
    const next = reached.map((_, at) => {
      if (character === "*") return reached.indexOf(true) !== -1 && reached.indexOf(true) <= at;
      return at > 0 && reached[at - 1] === true && (character === "?" || character === text[at - 1]);
    });
    reached = next;
  }
  return reached[text.length] === true;
}
