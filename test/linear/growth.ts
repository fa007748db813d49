/** Measures how the CPU time of a function grows with its input. CPU time depends little on the load of the machine. */

export interface GrowthCase<Input = unknown> {
  readonly name: string;
  /** Creates a worst case of about `size` characters. Not measured. */
  readonly input: (size: number) => Input;
  readonly run: (input: Input) => unknown;
}

/** Creates a case whose two functions share the type of the input. */
export function growthCase<Input>(
  name: string,
  input: (size: number) => Input,
  run: (input: Input) => unknown,
): GrowthCase {
  return { name, input, run: run as (input: unknown) => unknown };
}

/** Shorter times are noise, because a garbage collection may take as long. */
const NOISE_MS = 60;
/** Four times the input takes about 4 times as long if the work is linear, and 16 times if it is quadratic. */
const MAX_GROWTH = 8;
const ATTEMPTS = 3;

/** Returns the measured times if they do not grow linearly from `size` to four times `size`, else undefined. */
export async function superlinearGrowth({ input, run }: GrowthCase, size: number): Promise<string | undefined> {
  const inputs = [input(size), input(2 * size), input(4 * size)];
  const best = [Infinity, Infinity, Infinity];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    for (const [at, each] of inputs.entries()) best[at] = Math.min(best[at] ?? Infinity, await cpuMs(() => run(each)));
    const [once = 0, , fourfold = 0] = best;
    if (fourfold <= MAX_GROWTH * once + NOISE_MS) return undefined;
  }
  return `${size}, ${2 * size} and ${4 * size} characters take ${best.map((ms) => Math.round(ms)).join(", ")} ms`;
}

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
