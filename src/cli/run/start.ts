/** Waits until the agent of a session has started: a terminal shows it, and an interrupt gives it up. */
import type { Rookery } from "../../rookery.ts";
import type { Session } from "../../session/session.ts";
import { type Io, isLively } from "../io.ts";
import { aborted, watchInterrupts } from "./interrupts.ts";
import { noSpinner, startSpinner } from "./spinner.ts";

export interface Start {
  readonly io: Io;
  /** Closed where it is interrupted, which ends what was being started. */
  readonly rookery: Rookery;
  readonly json: boolean;
  /** As it is shown. */
  readonly label: string;
  /** `shown` wraps what is only waited for, and no question to the person. */
  readonly open: (signal: AbortSignal, shown: Shown) => Promise<Session>;
}

type Shown = (work: () => Promise<Session>) => Promise<Session>;

/** Undefined where it was interrupted; nothing of it is left then. */
export async function started({ io, rookery, json, label, open }: Start): Promise<Session | undefined> {
  using interrupts = watchInterrupts(io);
  using spinner = !json && isLively(io.stdout, io.env) ? startSpinner(io.stdout) : noSpinner;
  const { signal } = interrupts;
  const opening = open(signal, async (work) => {
    spinner.wait(label);
    return work().finally(() => spinner.clear());
  });
  await Promise.race([opening, aborted(signal)]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!signal.aborted) return await opening;
  spinner.clear();
  const settled = opening.catch(() => undefined); // what it was opened for is not wanted any more
  await rookery.close();
  await settled;
  return undefined;
}
