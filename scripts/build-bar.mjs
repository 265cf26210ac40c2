// Shows how far a build is: a bar on a terminal, elsewhere a line whenever a part has taken some seconds.

const BAR_LETTERS = 30;
const TERMINAL_MS = 200;
const LINE_MS = 5000;

/** Seconds of a part of one share; a part that takes longer than its shares fills its place ever more slowly. */
const SECONDS_PER_SHARE = 0.4;

/** `total`: the sum of all shares. */
export function createBuildBar(total, out = process.stderr) {
  const began = performance.now();
  let before = 0;
  let part;
  const done = () => {
    const expected = part.share * SECONDS_PER_SHARE * 1000;
    const fraction = 1 - Math.exp(-(performance.now() - part.began) / expected);
    return (before + part.share * fraction) / total;
  };
  const show = () => {
    const seconds = Math.round((performance.now() - began) / 1000);
    const text = `${Math.round(100 * done())} %, ${part.name} (${seconds} s)`;
    const filled = Math.round(done() * BAR_LETTERS);
    const bar = `[${"#".repeat(filled)}${" ".repeat(BAR_LETTERS - filled)}]`;
    out.write(out.isTTY ? `\r${bar} ${text}\u001b[K` : `build: ${text}\n`);
  };
  // Does not keep the process alive: a build that failed ends.
  const timer = setInterval(() => part !== undefined && show(), out.isTTY ? TERMINAL_MS : LINE_MS).unref();
  return {
    begin(name, share) {
      before += part?.share ?? 0;
      part = { name, share, began: performance.now() };
    },
    end() {
      clearInterval(timer);
      if (out.isTTY) out.write("\r\u001b[K");
    },
  };
}
