/** Shows how far a long command has come: a bar on a terminal, otherwise a line at intervals. */
export interface ProgressBar {
  show(progress: { readonly height: number; readonly done: number }): void;
  /** Ends the line of the bar. */
  end(): void;
}

const BAR_LETTERS = 30;
const TERMINAL_MS = 200;
const LINE_MS = 5000;

function timeLeft(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** `doing` is the participle shown, such as "imported". `now` returns milliseconds. */
export function createProgressBar(
  doing: string,
  out: { readonly isTTY?: boolean; write(text: string): boolean } = process.stdout,
  now: () => number = () => performance.now(),
): ProgressBar {
  const start = now();
  // Without a terminal, the first line is delayed, so that it can already estimate the end.
  let shownAt = out.isTTY ? Number.NEGATIVE_INFINITY : start;
  let isLineOpen = false;
  let doneBefore: number | undefined;
  return {
    show({ height, done }) {
      doneBefore ??= done;
      if (now() - shownAt < (out.isTTY ? TERMINAL_MS : LINE_MS)) return;
      shownAt = now();
      const seconds = (now() - start) / 1000;
      const remaining = timeLeft((seconds / (done - doneBefore)) * (1 - done));
      const text = `${doing} ${height} blocks, ${(100 * done).toFixed(1)} %, ${remaining} left`;
      const filled = Math.round(done * BAR_LETTERS);
      const bar = `[${"#".repeat(filled)}${" ".repeat(BAR_LETTERS - filled)}]`;
      out.write(out.isTTY ? `\r${bar} ${text}\u001b[K` : `${text}\n`);
      isLineOpen = out.isTTY === true;
    },
    end() {
      if (isLineOpen) out.write("\n");
      isLineOpen = false;
    },
  };
}
