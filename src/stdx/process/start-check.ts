/**
 * Checks that run before a child is started. A process that was stopped (SIGSTOP) and continues must not start children
 * for work that another process has taken over, even if it has not noticed that yet.
 */

export interface StartCheck {
  /** The owner whose children are checked. */
  readonly marker: string;
  /** Returns undefined if the child may start at once. Rejects if it must not start. */
  check(): Promise<void> | undefined;
}

const checks = new Set<StartCheck>();

/** Adds a check. Dispose the result to remove it. */
export function addStartCheck(check: StartCheck): Disposable {
  checks.add(check);
  return { [Symbol.dispose]: () => void checks.delete(check) };
}

/** Runs the checks of these owners (comma-separated). Returns undefined if there is nothing to wait for. */
export function checkStart(markers: string): Promise<unknown> | undefined {
  if (checks.size === 0) return undefined;
  const owners = markers.split(",");
  const doubts: Promise<void>[] = [];
  for (const each of checks) {
    const doubt = owners.includes(each.marker) ? each.check() : undefined;
    if (doubt !== undefined) doubts.push(doubt);
  }
  return doubts.length === 0 ? undefined : Promise.all(doubts);
}
