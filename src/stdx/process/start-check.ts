/**
 * What must be sure before a child is started. A process that was stopped and goes on must not start anything for work
 * that another process has taken over meanwhile, although it does not know of that yet.
 */

export interface StartCheck {
  /** The owner whose children it is about. */
  readonly marker: string;
  /** Undefined where there is no doubt. Rejects where the child must not be started. */
  check(): Promise<void> | undefined;
}

const checks = new Set<StartCheck>();

/** Until it is disposed. */
export function addStartCheck(check: StartCheck): Disposable {
  checks.add(check);
  return { [Symbol.dispose]: () => void checks.delete(check) };
}

/** Of all checks of these owners. Undefined, and nothing is waited for, where there is no doubt. */
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
