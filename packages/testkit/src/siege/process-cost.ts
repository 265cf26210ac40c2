import { readFileSync, writeFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;

/** Seconds of processor time of a process, all its threads together; 0 once it has ended. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

function memoryMiB(pid: number, name: "VmRSS" | "VmHWM"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Memory a process has now, in MiB; from here on `peakMiB` reports the most it has had. */
export function startPeak(pid: number): number {
  // 5 sets the mark of the most memory back to what it is now. Source: proc(5), /proc/pid/clear_refs.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return memoryMiB(pid, "VmRSS");
}

/** The most memory a process has had since `startPeak`, in MiB; 0 once it has ended. */
export const peakMiB = (pid: number) => memoryMiB(pid, "VmHWM");
