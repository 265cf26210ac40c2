/** Seconds a task takes. */
export async function timed(task) {
  const from = process.hrtime.bigint();
  await task();
  return Number(process.hrtime.bigint() - from) / 1e9;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
